markdown-table = Table
markdown-spoiler = Spoiler. Show it
markdown-copy = Copy
markdown-copied = Copied
markdown-to-do = To do
markdown-done = Done
link-to-message = #{ $channel } › message
