// The pages in a real browser: what axe-core finds, what a keyboard reaches, what a phone shows, what is drawn
// and when; and pictures of them.
//
//   npm install --prefix DIR puppeteer-core@24 axe-core@4
//   node tests/scripts/pages/check.mjs DIR/node_modules http://127.0.0.1:PORT plan.json
//
// Needs `chromium` on the path. The plan says which pages, how wide, light or dark, and where pictures go. What is
// wrong is printed, one line each; the last line is JSON with the figures.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [modules, base, planFile] = process.argv.slice(2);
const from = createRequire(path.resolve(modules, "index.js"));
const puppeteer = from("puppeteer-core");
const axeSource = readFileSync(from.resolve("axe-core"), "utf8");
const plan = JSON.parse(readFileSync(planFile, "utf8"));
const chromium = spawnSync("which", ["chromium"], { encoding: "utf8" }).stdout.trim();
if (!chromium) throw new Error("chromium is not on the path");

const problems = [];
const figures = { pages: 0, axeRules: 0, reached: 0, paintMs: [], weight: [] };
const wrong = (page, what) => problems.push(`${page.path} at ${page.width} px, ${page.scheme}: ${what}`);

async function visit(browser, page) {
  const tab = await browser.newPage();
  const loaded = [];
  tab.on("pageerror", (error) => wrong(page, `script: ${error.message}`));
  tab.on("console", (message) => {
    // A page that says that nothing is here answers 404, and the browser notes that.
    if (page.offline || (page.status && /status of/.test(message.text()))) return;
    if (message.type() === "error") {
      wrong(page, `console: ${message.text()}`);
    }
  });
  tab.on("response", (answer) => loaded.push(answer));
  tab.on("request", (request) => {
    if (!request.url().startsWith(base)) wrong(page, `asks elsewhere: ${request.url()}`);
  });
  await tab.setJavaScriptEnabled(page.script !== false);
  await tab.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: page.scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await tab.setViewport({ width: page.width, height: page.height ?? 800 });
  const answer = await tab.goto(base + page.path, { waitUntil: "load" });
  if (answer.status() !== (page.status ?? 200)) wrong(page, `answers ${answer.status()}`);
  figures.pages += 1;
  await look(tab, page, loaded);
  await tab.close();
}

async function look(tab, page, loaded) {
  const policy = loaded[0]?.headers()["content-security-policy"] ?? "";
  if (!policy.includes("default-src 'self'") || policy.includes("unsafe")) wrong(page, `policy: ${policy}`);
  const sums = await Promise.all(loaded.map((one) => one.buffer().then((b) => b.length).catch(() => 0)));
  const weight = sums.reduce((sum, one) => sum + one, 0);
  figures.weight.push({ path: page.path, bytes: weight });
  if (weight > 300_000) wrong(page, `weighs ${weight} bytes`);
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (wide > 0) wrong(page, `is ${wide} px wider than the screen`);
  for (const text of page.says ?? []) {
    const said = await tab.evaluate(() => document.body.innerText);
    if (!said.includes(text)) wrong(page, `does not say "${text}"`);
  }
  const injected = await tab.evaluate(() => document.querySelectorAll("main script, main style, main [style], main [onclick]").length);
  if (injected > 0) wrong(page, `${injected} elements have inline script or style`);
  if (page.script !== false) {
    await axe(tab, page);
    await keyboard(tab, page);
  }
  if (page.picture) await picture(tab, page);
}

async function axe(tab, page) {
  // Handed to the browser past the policy, as an extension would be: the policy allows no inline script.
  await tab.evaluate(axeSource);
  const { violations, passes } = await tab.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  figures.axeRules = Math.max(figures.axeRules, passes.length);
  for (const { id, help, nodes } of violations) wrong(page, `axe ${id}: ${help}: ${nodes[0].html.slice(0, 160)}`);
}

// Tab goes through everything that can be acted on, in order, and each is seen to have the focus.
async function keyboard(tab, page) {
  // Nothing changes meanwhile: what is replaced has to be walked again.
  page.offline = true;
  await tab.setOfflineMode(true);
  await new Promise((done) => setTimeout(done, 300));
  const wanted = await tab.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")];
    const shown = all.filter((one) => one.checkVisibility({ visibilityProperty: true }));
    shown.forEach((one, nth) => { one.dataset.walk = nth; });
    return shown.length;
  });
  await tab.evaluate(() => { document.activeElement?.blur(); window.scrollTo(0, 0); });
  const reached = new Set();
  let unseen = 0;
  for (let step = 0; step < wanted + 5 && reached.size < wanted; step += 1) {
    await tab.keyboard.press("Tab");
    const at = await tab.evaluate(() => {
      const one = document.activeElement;
      const style = getComputedStyle(one);
      const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      return { walk: one.dataset?.walk, seen: seen || one.matches("input") };
    });
    if (at.walk === undefined) continue;
    reached.add(at.walk);
    unseen += at.seen ? 0 : 1;
  }
  figures.reached += reached.size;
  if (reached.size < wanted) wrong(page, `the keyboard reaches ${reached.size} of ${wanted}`);
  if (unseen > 0) wrong(page, `${unseen} do not show that they have the focus`);
}

async function picture(tab, page) {
  await tab.evaluate(() => { document.activeElement?.blur(); window.scrollTo(0, 0); });
  await tab.screenshot({ path: page.picture, fullPage: !page.height });
  spawnSync("pngquant", ["--force", "--output", page.picture, "64", page.picture]);
}

// How long until something is drawn, three times, each in a browser that has seen nothing: the middle one.
async function paint(page) {
  const times = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const browser = await launch();
    const tab = await browser.newPage();
    await tab.setViewport({ width: page.width, height: 800 });
    await tab.goto("about:blank");
    await tab.goto(base + page.path, { waitUntil: "load" });
    const drawn = await tab.evaluate(() => new Promise((done) => {
      const find = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
      const timer = setInterval(() => { if (find()) { clearInterval(timer); done(find()); } }, 20);
    }));
    times.push(Math.round(drawn));
    await browser.close();
  }
  times.sort((a, b) => a - b);
  figures.paintMs.push({ path: page.path, ms: times[1] });
  if (page.paintMs && times[1] > page.paintMs) wrong(page, `is drawn after ${times[1]} ms`);
}

const launch = () => puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });

const browser = await launch();
for (const page of plan) await visit(browser, { width: 1280, scheme: "light", ...page });
await browser.close();
for (const page of plan.filter((page) => page.paint)) await paint({ width: 1280, scheme: "light", ...page });
for (const problem of problems) console.log(`WRONG ${problem}`);
console.log(JSON.stringify({ ...figures, problems: problems.length }));
process.exit(problems.length ? 1 : 0);
