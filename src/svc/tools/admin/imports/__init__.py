"""The exports of other programs, read. What becomes of them is `svc.chat.transfer`'s."""
