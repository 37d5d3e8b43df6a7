# The page as an application: new versions, offline content, and content shared from elsewhere.

new-version = A new version is available.
load-version = Load it
update-later = Something is still being sent. Load the new version when it is done.
shown-from = Offline. This is what you read last, from { $time }.
share-title = Share in a channel
share-from-site = { $host } wants to share something here.
share-from-outside = Another app or site wants to share something here.
share-find = Find a channel
share-nowhere = There are no channels that you can write in.
install = Install this page as an application
