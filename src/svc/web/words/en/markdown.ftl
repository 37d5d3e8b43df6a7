markdown-table = Table
markdown-spoiler = Spoiler. Show it
markdown-copy = Copy
markdown-copied = Copied
