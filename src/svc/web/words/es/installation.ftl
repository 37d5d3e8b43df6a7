# The page as an application: new versions, offline content, and content shared from elsewhere.

new-version = Hay una versión nueva.
load-version = Cargarla
update-later = Todavía se está enviando algo. Carga la versión nueva cuando termine.
shown-from = Sin conexión. Ves lo último que leíste ({ $time }).
share-title = Compartir en un canal
share-from-site = { $host } quiere compartir algo aquí.
share-from-outside = Otra aplicación u otro sitio quiere compartir algo aquí.
share-find = Buscar un canal
share-nowhere = Aquí no hay ningún canal en el que puedas escribir.
install = Instalar esta página como aplicación
