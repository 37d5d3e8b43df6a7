completion = Suggestions
completion-role = role
completion-group = group
emoji-choose = Choose emoji
emoji-more = All emoji
drop-here = Drop files to attach them
describe-file = Add a description to { $name }
description = Description
description-hint = Describe the file for people who can’t see it.
file-gone = This file no longer exists.
picture-of = { $at } of { $count }
picture-before = Previous picture
picture-after = Next picture
open-file = Open in a new tab
formatting = Formatting
format-bold = Bold
format-italic = Italic
format-underline = Underline
format-code = Code
format-strike = Strikethrough
format-spoiler = Spoiler
news-count = { $count ->
    [one] 1 new message
   *[other] { NUMBER($count) } new messages
}
pasted-as-file = Your text is too long for a message, so it was attached as a file.
too-long = Your message is longer than 4,000 characters.
characters-left = { $count ->
    [one] 1 character left
   *[other] { $count } characters left
}
emoticons = Convert emoticons to emoji
emoticons-hint = Typing :) sends 🙂. Press Backspace right after it to undo.
command-shrug = Adds ¯\_(ツ)_/¯ to your message
command-tableflip = Adds (╯°□°)╯︵ ┻━┻ to your message
command-unflip = Adds ┬─┬ノ( º _ ºノ) to your message
command-spoiler = Marks your message as a spoiler
command-nick = Changes your name on this server
command-status = Sets your status, or clears it if you leave it empty
slow-mode-left = Slow mode: you can send another message in { $time }.
spoiler = Spoiler
spoiler-cover = Spoiler: { $kind ->
    [picture] a picture
    [video] a video
    [audio] an audio file
   *[file] a file
}. Show
spoiler-mark = Mark { $name } as a spoiler
voice-message = Voice message
voice-record = Record voice message
recording = Recording… { $time }
voice-attach = Attach
