inbox = メンション
inbox-empty = まだ誰からもメンションされていません。あなた、あなたのロール、または全員へのメンションと、あなたへの返信がここに表示されます。
inbox-new = 新着
inbox-read = すべて既読にする
shortcut-inbox = あなたへのメンション
