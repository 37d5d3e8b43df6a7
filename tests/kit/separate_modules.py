"""Makes a page load its source modules one by one, so that a test can import or delay a single module."""

from playwright.async_api import Page, Route


async def use_separate_modules(page: Page) -> None:
    """Replace the bundles with the source modules when the page is loaded next."""

    async def replace(route: Route) -> None:
        await route.fulfill(body='import "/web/main.js";', content_type="text/javascript")

    await page.route("**/web/*/main.js", replace)
