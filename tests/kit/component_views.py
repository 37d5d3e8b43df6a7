"""Renders a single component of the web client in a real browser, without the rest of the client.

The test specifies the module, the component and its properties.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from playwright.async_api import Page

from tests.kit.browser_users import People
from tests.kit.svc_up import SvcUp

# A file without scripts that is served with the page's origin and headers.
EMPTY = "/web/vendor/licences/preact.txt"
SETUP = """async () => {
  document.body.replaceChildren();
  for (const name of ["style", "later"]) {
    await new Promise((done) => {
      const link = document.createElement("link");
      Object.assign(link, { rel: "stylesheet", href: `/web/${name}.css`, onload: done });
      document.head.append(link);
    });
  }
  const { loadWords } = await import("/web/words/words.js");
  await loadWords();
  window.calls = [];
}"""
# Functions cannot be passed to a page, so `calls` records the arguments that are passed to the functions
# named in `callbacks`. Lists of pairs named in `maps` are converted to maps.
MOUNT = """async ({ module, name, properties, maps, callbacks, width }) => {
  const [{ h, render }, views] = await Promise.all([import("/web/vendor/preact.js"), import(module)]);
  const holder = document.createElement("div");
  holder.style.width = `${width}px`;
  document.body.replaceChildren(holder);
  const entry = ([key, each]) => [key, maps.includes(key) ? new Map(each) : each];
  const deep = (value) => Object.fromEntries(Object.entries(value).map(entry));
  const real = deep(properties);
  if (real.context) real.context = deep(real.context);
  const place = real.context ?? real;
  for (const each of callbacks) place[each] = (...given) => window.calls.push([each, ...given]);
  render(h(views[name], real), holder);
}"""


class Bench:
    """A page that contains only the component that was mounted last."""

    def __init__(self, page: Page, empty: str) -> None:
        self.page = page
        self._empty = empty

    async def open(self) -> None:
        """Open or reload the page. The browser keeps its storage."""
        await self.page.goto(self._empty)
        await self.page.evaluate(SETUP)

    async def put(
        self,
        module: str,
        name: str,
        properties: Mapping[str, object],
        *,
        maps: tuple[str, ...] = (),
        callbacks: tuple[str, ...] = (),
        width: int = 400,
    ) -> None:
        await self.page.evaluate(
            MOUNT,
            {
                "module": f"/web/{module}",
                "name": name,
                "properties": dict(properties),
                "maps": list(maps),
                "callbacks": list(callbacks),
                "width": width,
            },
        )

    async def calls(self) -> list[list[object]]:
        """Return the component's callback calls since the page was opened, each as the property's name and
        the arguments.
        """
        calls: list[list[object]] = await self.page.evaluate("() => window.calls")
        return calls

    async def words(self, key: str) -> str:
        words: str = await self.page.evaluate(
            "async (key) => (await import('/web/words/words.js')).t(key)", key
        )
        return words


async def bench(people: People, product: SvcUp) -> Bench:
    person = await people.arrive("Ada")
    url = urlsplit(product.url)
    made = Bench(person.page, f"{url.scheme}://{url.netloc}{EMPTY}")
    await made.open()
    return made
