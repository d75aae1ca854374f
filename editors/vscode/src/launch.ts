// How the server is started and what it is told: pure functions, free of the editor, so that Node can test them.

/** What the user set, as the editor gives it. */
export interface Settings {
  readonly path: readonly string[];
  readonly interpreter: string;
  readonly pedantic: boolean;
  readonly codeLens: boolean;
  readonly inlayHints: boolean;
}

/** A program and its arguments. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where variables in settings get their values from. */
export interface Surroundings {
  readonly workspaceFolder: string;
  readonly userHome: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The text with `${workspaceFolder}`, `${userHome}`, `${env:NAME}` and a leading `~` replaced. */
export function expand(text: string, around: Surroundings): string {
  const home = text === "~" || text.startsWith("~/") ? around.userHome + text.slice(1) : text;
  return home.replace(/\$\{(workspaceFolder|userHome|env:([^}]+))\}/g, (_, name: string, variable?: string) => {
    if (variable !== undefined) {
      return around.env[variable] ?? "";
    }
    return name === "userHome" ? around.userHome : around.workspaceFolder;
  });
}

/**
 * The command that runs the server: the one that is set, else `-m autohybrid` of the interpreter that is set or that
 * the Python extension has chosen, else `autohybrid` on the PATH.
 */
export function toLaunch(settings: Settings, chosen: string | undefined, around: Surroundings): Launch {
  const [command, ...words] = settings.path.map((word) => expand(word, around));
  if (command) {
    return { command, args: [...words, "lsp"] };
  }
  const interpreter = expand(settings.interpreter, around) || chosen;
  if (interpreter) {
    return { command: interpreter, args: ["-m", "autohybrid", "lsp"] };
  }
  return { command: "autohybrid", args: ["lsp"] };
}

/** The options that the server takes, at its start and when they change. */
export function toOptions(settings: Settings): Record<string, boolean> {
  return { pedantic: settings.pedantic, codeLens: settings.codeLens, inlayHints: settings.inlayHints };
}

/** Whether a changed setting needs another process; the others are told to the one that runs. */
export function needsRestart(before: Launch, after: Launch): boolean {
  return before.command !== after.command || before.args.join("\0") !== after.args.join("\0");
}

/** What to tell the user when the server did not start. */
export function toAdvice(launch: Launch, reason: string): string {
  const how = [launch.command, ...launch.args].join(" ");
  return `autohybrid did not start (${how}): ${reason}. Is it installed there? pip install 'autohybrid[lsp]'`;
}
