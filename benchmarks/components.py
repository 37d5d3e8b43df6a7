"""Compares how fast Preact and Lit render, extend, change and replace a channel with 5,000 messages.

    python -m benchmarks.components [--messages 5000] [--rounds 5]

Both libraries render the same list (`components/`). Preact is the file in `web/vendor`, used as in the web
client. Lit is fetched from npm at the version pinned below and renders one element per message. Times are
measured from the change until the browser has laid out the result. Preact and Lit take turns, each on its own
page. The table shows the best round, because other load only adds time. The size in bytes covers the library
and the list, minified and compressed. Needs node, npm and Chromium.
"""

import argparse
import asyncio
import gzip
import subprocess
import tempfile
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from svc.chat.pages.routes import WEB_FOLDER
from tests.kit.browser_users import FLAGS, chromium

HERE = Path(__file__).parent / "components"
PACKAGES = ("lit@3.3.1", "esbuild@0.28.2")
MEASURE = """async (count) => {
  const made = (id) => ({
    id, author: `Author ${id % 50}`, hue: id % 360, time: "10:15",
    text: `Message ${id}, of some length, as people write them.`,
    reactions: id % 10 ? [] : [{ sign: "👍", count: 1 + id % 3 }, { sign: "🎉", count: 2 }],
  });
  const { port1, port2 } = new MessageChannel();
  const root = document.body.appendChild(document.createElement("div"));
  const drawn = async (messages) => {
    const began = performance.now();
    draw(root, messages);
    // Lit draws elements in microtasks.
    await new Promise((done) => { port1.onmessage = done; port2.postMessage(0); });
    root.getBoundingClientRect();
    return performance.now() - began;
  };
  const all = Array.from({ length: count }, (_, index) => made(index + 100));
  const times = {};
  times["drawn"] = await drawn(all);
  times["one more at the end"] = await drawn([...all, made(count + 100)]);
  const changed = all.with(count / 2, { ...all[count / 2], reactions: [{ sign: "👀", count: 1 }] });
  times["a reaction in the middle"] = await drawn(changed);
  const more = [...Array.from({ length: 50 }, (_, index) => made(index)), ...changed];
  times["50 more at the beginning"] = await drawn(more);
  times["all drawn again, nothing changed"] = await drawn([...more]);
  times["another channel"] = await drawn(Array.from({ length: 50 }, (_, index) => made(index + 100_000)));
  return times;
}"""


def bundles(folder: Path) -> dict[str, str]:
    """Return the minified program for each library."""
    subprocess.run(
        ["npm", "install", "--silent", "--no-audit", "--no-fund", *PACKAGES], cwd=folder, check=True
    )
    (folder / "vendor").symlink_to(WEB_FOLDER / "vendor")
    made = {}
    for name in ("preact", "lit"):
        (folder / f"{name}.js").write_text((HERE / f"{name}.js").read_text())
        options = ("--bundle", "--minify", "--format=iife", "--target=es2022", "--alias:vendor=./vendor")
        program = subprocess.run(
            ["npx", "esbuild", f"{name}.js", *options], cwd=folder, check=True, capture_output=True, text=True
        )
        made[name] = program.stdout
    return made


async def measured(browser: Browser, program: str, count: int) -> dict[str, float]:
    """Return the times in ms, and the heap size after all messages have been rendered once."""
    page = await browser.new_page()
    await page.goto("about:blank")
    await page.add_script_tag(content=program)
    times: dict[str, float] = await page.evaluate(MEASURE, count)
    await page.close()
    page = await browser.new_page()
    await page.add_script_tag(content=program)
    tools = await page.context.new_cdp_session(page)

    async def heap() -> float:
        await tools.send("HeapProfiler.collectGarbage")
        return float((await tools.send("Runtime.getHeapUsage"))["usedSize"])

    before = await heap()
    await page.evaluate(
        "(all) => draw(document.body, all)",
        [
            {"id": n, "author": "A", "hue": 1, "time": "10:15", "text": "Some words", "reactions": []}
            for n in range(count)
        ],
    )
    await page.wait_for_timeout(500)
    times["heap of the messages, MB"] = (await heap() - before) / 1e6
    await page.close()
    return times


async def measure(count: int, rounds: int) -> None:
    results: dict[str, list[dict[str, float]]] = {"preact": [], "lit": []}
    with tempfile.TemporaryDirectory() as folder:
        programs = bundles(Path(folder))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        for _ in range(rounds):
            for name, program in programs.items():
                results[name].append(await measured(browser, program, count))
        await browser.close()
    print(f"| {count:,} messages | Preact | Lit |\n|---|---|---|")
    sizes = {name: len(gzip.compress(program.encode())) / 1000 for name, program in programs.items()}
    print(f"| library and list, KB compressed | {sizes['preact']:.1f} | {sizes['lit']:.1f} |")
    for what in results["preact"][0]:
        best = {name: min(round_[what] for round_ in rounds_) for name, rounds_ in results.items()}
        print(f"| {what}{'' if 'MB' in what else ', ms'} | {best['preact']:.1f} | {best['lit']:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.messages, arguments.rounds))


if __name__ == "__main__":
    main()
