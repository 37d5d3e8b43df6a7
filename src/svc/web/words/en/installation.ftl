# The page as an application: new versions, offline content, and content shared from elsewhere.

new-version = A new version is available.
load-version = Reload
update-later = Something is still being sent. Reload when it’s done.
shown-from = You’re offline. Showing messages from { $time }.
share-title = Share to a channel
share-from-site = { $host } wants to share something here.
share-from-outside = Another app or site wants to share something here.
share-find = Find a channel
share-nowhere = There are no channels you can post in.
install = Install as an app
