// The extension: starts `autohybrid lsp`, tells it what is set, and starts it anew when that must change.

import * as os from "node:os";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

import { Launch, Settings, needsRestart, toAdvice, toLaunch, toOptions } from "./launch";

const SECTION = "autohybrid";
const SCHEMES = ["file", "untitled", "vscode-notebook", "vscode-notebook-cell"];
let client: LanguageClient | undefined;
let running: Launch | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("autohybrid.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration(SECTION)) {
        await applySettings();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

async function stop(): Promise<void> {
  const ending = client;
  client = undefined;
  await ending?.stop();
}

async function start(): Promise<void> {
  if (!vscode.workspace.getConfiguration(SECTION).get<boolean>("enable", true)) {
    return;
  }
  const settings = readSettings();
  running = await findLaunch(settings);
  const server: ServerOptions = { command: running.command, args: [...running.args] };
  const options: LanguageClientOptions = {
    documentSelector: SCHEMES.map((scheme) => ({ language: "python", scheme })),
    initializationOptions: toOptions(settings),
  };
  client = new LanguageClient(SECTION, "autohybrid", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    void vscode.window.showErrorMessage(toAdvice(running, error instanceof Error ? error.message : String(error)));
  }
}

async function applySettings(): Promise<void> {
  const settings = readSettings();
  const enabled = vscode.workspace.getConfiguration(SECTION).get<boolean>("enable", true);
  if (client === undefined || running === undefined || !enabled || needsRestart(running, await findLaunch(settings))) {
    await restart();
    return;
  }
  await client.sendNotification("workspace/didChangeConfiguration", { settings: { [SECTION]: toOptions(settings) } });
}

function readSettings(): Settings {
  const given = vscode.workspace.getConfiguration(SECTION);
  return {
    path: given.get<string[]>("path", []),
    interpreter: given.get<string>("interpreter", ""),
    pedantic: given.get<boolean>("pedantic", false),
    codeLens: given.get<boolean>("codeLens", true),
    inlayHints: given.get<boolean>("inlayHints", true),
  };
}

async function findLaunch(settings: Settings): Promise<Launch> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const around = { workspaceFolder: folder?.fsPath ?? "", userHome: os.homedir(), env: process.env };
  return toLaunch(settings, await findInterpreter(folder), around);
}

/** The interpreter that the Python extension has chosen, where that extension is installed. */
async function findInterpreter(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const python = vscode.extensions.getExtension("ms-python.python");
  if (python === undefined) {
    return undefined;
  }
  const api = (await python.activate()) as
    | { environments?: { getActiveEnvironmentPath?: (resource?: vscode.Uri) => { path?: string } } }
    | undefined;
  return api?.environments?.getActiveEnvironmentPath?.(folder)?.path;
}
