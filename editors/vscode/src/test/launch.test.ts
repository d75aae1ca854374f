import assert from "node:assert/strict";
import { test } from "node:test";

import { Settings, expand, needsRestart, toAdvice, toLaunch, toOptions } from "../launch";

const around = { workspaceFolder: "/project", userHome: "/me", env: { VENV: "/venvs/a" } };
const nothing: Settings = { path: [], interpreter: "", pedantic: false, codeLens: true, inlayHints: true };

test("variables are replaced wherever they stand, and unknown ones are left", () => {
  assert.equal(expand("${workspaceFolder}/.venv/bin/python", around), "/project/.venv/bin/python");
  assert.equal(expand("${env:VENV}:${env:NONE}:${userHome}", around), "/venvs/a::/me");
  assert.equal(expand("~/bin/x", around), "/me/bin/x");
  assert.equal(expand("~x/${file}", around), "~x/${file}");
});

test("the command that is set comes before every interpreter", () => {
  const settings = { ...nothing, path: ["uv", "run", "${workspaceFolder}"], interpreter: "/py" };
  assert.deepEqual(toLaunch(settings, "/chosen", around), { command: "uv", args: ["run", "/project", "lsp"] });
});

test("the interpreter that is set comes before the chosen one, and that before the PATH", () => {
  const args = ["-m", "autohybrid", "lsp"];
  assert.deepEqual(toLaunch({ ...nothing, interpreter: "~/py" }, "/chosen", around), { command: "/me/py", args });
  assert.deepEqual(toLaunch(nothing, "/chosen", around), { command: "/chosen", args });
  assert.deepEqual(toLaunch(nothing, undefined, around), { command: "autohybrid", args: ["lsp"] });
});

test("only the options of the server are sent to it", () => {
  assert.deepEqual(toOptions({ ...nothing, pedantic: true }), { pedantic: true, codeLens: true, inlayHints: true });
});

test("another command needs another process", () => {
  const one = { command: "a", args: ["lsp"] };
  assert.equal(needsRestart(one, { command: "a", args: ["lsp"] }), false);
  assert.equal(needsRestart(one, { command: "b", args: ["lsp"] }), true);
  assert.equal(needsRestart(one, { command: "a", args: ["-v", "lsp"] }), true);
});

test("the advice names the command and the remedy", () => {
  const text = toAdvice({ command: "py", args: ["-m", "autohybrid", "lsp"] }, "not found");
  assert.match(text, /py -m autohybrid lsp/);
  assert.match(text, /pip install 'autohybrid\[lsp\]'/);
});
