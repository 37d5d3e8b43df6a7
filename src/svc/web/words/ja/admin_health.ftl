# The server's health, and whether others can reach its URL.

settings-health = 状態
health-ok = 正常
health-notice = 注意
health-problem = 問題
health-is-database-sound = 書き込みはすべて保存されています。
health-is-database-not-kept = 書き込みが保存されないか、データベースが壊れています。
health-do-database-not-kept = ディスクとサーバーのログを確認してください。バックアップを保管し、データベースが壊れている場合は最新のものを復元してください。
health-is-disk-roomy = ディスクの空きは { $free } です。
health-is-disk-filling = ディスクの空きは { $free } です。
health-do-disk-filling = アップロードやバックアップでいっぱいになります。見守るか、空きを作ってください。
health-is-disk-full = ディスクの空きは { $free } しかありません。
health-do-disk-full = 空きを作ってください。いっぱいになると、サーバーはすべてのメッセージを拒否します。
health-is-clock-kept = コンピューターの時計は合っています。
health-is-clock-unknown = ここでは時計が合っているか確認できません。
health-is-clock-adrift = コンピューターの時計が自動で合わされていません。
health-do-clock-adrift = 時刻の同期をオンにしてください（timedatectl set-ntp true）。サインインの期限は時計で決まります。
health-is-files-ample = サーバーが同時に開けるファイルの数は十分です。
health-is-files-few = サーバーが同時に開けるファイルが少なすぎます。開いているページごとに 1 つ必要です。
health-do-files-few = 上限を 4096 以上にしてください（ulimit -n、またはユニットの LimitNOFILE=）。
health-is-buffers-ample = コンピューターのバッファーは十分です。
health-is-buffers-small = コンピューターのバッファーが小さいため、映像が多いと通話のパケットが失われます。
health-do-buffers-small = net.core.rmem_max と net.core.wmem_max を上げてください。コマンドは svc doctor が表示します。
health-is-joining-possible = 参加できます。
health-is-joining-impossible = だれも参加できません。サーバーが確認できる種類の身元を受け付けていません。
health-do-joining-impossible = 運営者は SVC_IDENTITY_TIERS に local を加えるか、SVC_OIDC_ISSUER を設定してください。
health-is-address-reachable = サーバー、またはその前のプロキシが外からの接続を受け付けています。
health-is-address-only-here = サーバーは自分のコンピューターからの接続だけを受け付けています。
health-do-address-only-here = --host 0.0.0.0 --tls を付けて起動するか、証明書のあるプロキシを前に置いて SVC_TRUSTED_PROXY_HOPS を設定してください。
health-is-address-insecure = サーバーに証明書がないため、ブラウザーはほかの人のサインインや通話を許しません。
health-do-address-insecure = --tls を付けて起動するか、証明書のあるプロキシを前に置いて SVC_TRUSTED_PROXY_HOPS を設定してください。
health-is-voice-connected = 通話できます。メディアサービスに接続しています。
health-is-voice-none = このサーバーにはメディアサービスがないため、通話はできません。
health-do-voice-none = svc up が起動します。そうでない場合は運営者が SFU_WS_HOST を設定してください。
health-is-voice-unreachable = メディアサービスにつながりません。だれも通話に参加できません。
health-do-voice-unreachable = svc sfu が動いているか、ログに何があるかを確認してください。
health-is-uploads-working = アップロードは処理されています。
health-is-uploads-off = このサーバーはアップロードを受け付けません。
health-do-uploads-off = 運営者が STORAGE_BACKEND を設定してください。
health-is-uploads-no-worker = { $count ->
    [0] メディアワーカーが動いていません。
   *[other] { $count } 件のアップロードが待っていますが、メディアワーカーが動いていません。
}
health-do-uploads-no-worker = 同じ DATA_DIR で svc worker を起動してください。svc up なら起動します。
health-is-backups-recent = サーバーに過去30日以内のバックアップがあります。
health-is-backups-old = サーバーの最新のバックアップは30日より前のものです。
health-do-backups-old = 新しく作成し、コピーを別の場所に保管してください。
health-is-backups-none = サーバーにバックアップはありません。
health-do-backups-none = 新しく作成し、コピーを別の場所に保管してください。
health-doctor = サーバーのコンピューターで svc doctor を実行すると、サーバー自身には見えないポートと外からのアドレスも確認できます。
health-again = もう一度確認
health-versions = バージョン
health-since = 起動
health-connected = { $count } 人が接続中
health-in-calls = { $count ->
    [0] 通話中の人はいません。
   *[other] 通話への接続は { $count } 件です。
}
health-pages = { $count } ページを表示中

## Whether others can reach the URL

reach-only-here = { $address } はこのコンピューターでしか開けません。
reach-only-here-do = このアドレスのリンクはほかの人には使えません。サーバーを --host 0.0.0.0 --tls で起動するか、証明書のある名前を付け、そのアドレスでページを開いてください。
reach-no-tls = { $address } は https ではないため、ブラウザーではだれもサインインできません。
reach-no-tls-do = サーバーを --tls で起動するか、証明書のあるプロキシを前に置き、https:// のアドレスでページを開いてください。
reach-nearby = { $address } は自分のネットワークの中でしか使えません。
reach-nearby-do = 外の人のためには公開の名前が必要です。リンクを作る前に、その名前でページを開いてください。
