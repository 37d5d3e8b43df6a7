"""Programs that measure the product's performance. README.md has the results."""
