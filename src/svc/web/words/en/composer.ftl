completion = Suggestions
completion-role = role
completion-group = group
emoji-choose = Choose an emoji
emoji-more = All emoji
drop-here = Drop files to attach them
describe-file = Describe { $name }
description = Description
description-hint = What it shows, for people who cannot see it.
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
format-spoiler = Hidden until pressed
news-count = { $count ->
    [one] 1 new message
   *[other] { NUMBER($count) } new messages
}
pasted-as-file = The text is too long for a message, so it is attached as a file.
too-long = The text is too long for a message of 4,000 characters.
characters-left = { $count ->
    [one] 1 character left
   *[other] { $count } characters left
}
emoticons = Turn emoticons into emoji
emoticons-hint = Type :) and 🙂 is sent. Press Backspace right after it to undo.
command-shrug = ¯\_(ツ)_/¯ after your message
command-tableflip = (╯°□°)╯︵ ┻━┻ after your message
command-unflip = ┬─┬ノ( º _ ºノ) after your message
command-spoiler = Send the text hidden until pressed
command-nick = Change your name here
command-status = Change your status, or clear it if you write nothing
slow-mode-left = Slow mode: you can write again in { $time }.
spoiler = Spoiler
spoiler-cover = Spoiler: { $kind ->
    [picture] a picture
    [video] a video
    [audio] a sound
   *[file] a file
}. Show it
spoiler-mark = Spoiler: cover { $name } until somebody presses it
voice-message = Voice message
voice-record = Record a voice message
recording = Recording… { $time }
voice-attach = Attach
