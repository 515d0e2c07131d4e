// A comment as a reviewer sees it: Markdown as GitHub renders it, in a real browser, as a picture.
//
//   npm install --prefix DIR markdown-it@14 markdown-it-github-alerts@1 github-markdown-css@5
//   fleet plan … -o markdown > comment.md
//   node tests/scripts/ci/render.mjs DIR/node_modules comment.md comment.png
//
// Needs `chromium` on the path, with a font of emoji; `pngquant`, where it is there, makes the picture small.
// The second fold is open, so that the picture shows both forms.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

const [modules, comment, picture] = process.argv.slice(2);
const from = createRequire(path.resolve(modules, "index.js"));
const MarkdownIt = from("markdown-it");
const alerts = from("markdown-it-github-alerts");
const sheet = (name) => readFileSync(path.resolve(modules, name), "utf8");

const text = readFileSync(comment, "utf8");
const body = new MarkdownIt({ html: true, linkify: true }).use(alerts.default ?? alerts).render(text);
let folds = 0;
const shown = body.replace(/<details>/g, (fold) => (++folds === 2 ? "<details open>" : fold));

const page = `<!doctype html><meta charset="utf-8"><style>
${sheet("github-markdown-css/github-markdown-light.css")}
${sheet("markdown-it-github-alerts/styles/github-colors-light.css")}
${sheet("markdown-it-github-alerts/styles/github-base.css")}
body { margin: 0; padding: 16px; background: #fff; }
.comment { max-width: 860px; border: 1px solid #d1d9e0; border-radius: 6px; overflow: hidden; }
.who { font: 14px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; padding: 8px 16px;
  background: #f6f8fa; color: #59636e; border-bottom: 1px solid #d1d9e0; }
.markdown-body { padding: 16px; font-size: 14px; }
</style><div class="comment"><div class="who"><b>github-actions</b> bot commented</div>
<article class="markdown-body">${shown}</article></div>`;

const folder = mkdtempSync(path.join(tmpdir(), "fleet-comment-"));
try {
  const file = path.join(folder, "comment.html");
  writeFileSync(file, page);
  const run = (...args) =>
    spawnSync("chromium", ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
      `--user-data-dir=${folder}/profile`, ...args, `file://${file}`], { encoding: "utf8" });
  // The height is what the page says it is.
  writeFileSync(file, page + "<script>document.title = document.documentElement.scrollHeight</script>");
  const height = /<title>(\d+)<\/title>/.exec(run("--window-size=900,200", "--dump-dom").stdout ?? "")?.[1];
  if (!height) throw new Error("chromium shows nothing");
  writeFileSync(file, page);
  const taken = run(`--window-size=900,${height}`, `--screenshot=${path.resolve(picture)}`);
  if (taken.status !== 0) throw new Error(taken.stderr);
  spawnSync("pngquant", ["--force", "--output", picture, "64", picture]);
  console.log(`${picture}: 900 × ${height}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
