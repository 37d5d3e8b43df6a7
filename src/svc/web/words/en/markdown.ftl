markdown-table = Table
markdown-spoiler = Spoiler. Show
markdown-copy = Copy
markdown-copied = Copied
markdown-to-do = To do
markdown-done = Done
link-to-message = #{ $channel } › message
