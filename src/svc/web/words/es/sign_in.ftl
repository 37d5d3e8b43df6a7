## Sign-in

join-title = Únete a la conversación
join-server = Únete a { $server }
back-at = Te damos la bienvenida de nuevo a { $server }
people-here = { $count ->
    [0] Todavía no hay miembros.
    [one] Un miembro
   *[other] { $count } miembros
}
online-now = { $count } en línea
first-member = Eres la primera persona en llegar. Con este enlace, el servidor pasa a ser tuyo.
access-lost = Este servidor ya no te deja entrar. { $reason }
insecure = Los navegadores solo dejan iniciar sesión y usar el micrófono y la cámara en direcciones https://, o en este mismo equipo en http://127.0.0.1. Pide la dirección https:// a quien administra este servidor.
no-browser-storage = Este navegador no guarda nada de esta página. Quizá la ventana sea privada. Solo serás miembro hasta que la cierres.
joins-closed = Este servidor no acepta a nadie por ahora. Quien lo administra lo ha cerrado. Inténtalo más tarde.
sign-in-impossible = Aquí nadie puede iniciar sesión: el servidor solo acepta cuentas y no hay ningún proveedor de cuentas configurado. Avisa a quien lo administra.
your-name = Tu nombre
name-missing = Escribe un nombre.
name-wanted = Es tu primera vez aquí. Elige el nombre que verán los demás.
name-given = El nombre «{ $wanted }» ya está en uso, así que te llamas «{ $given }». Puedes cambiarlo en los ajustes.
invite-code = Código de invitación
invite-hint = Necesitas una invitación para unirte. Pega el código o el enlace completo.
approval-message = Mensaje para los moderadores (opcional)
approval-hint = Alguien tiene que aprobar tu entrada. Cuéntale quién eres.
server-rules = Las normas de este servidor
accept-rules = Acepto las normas
join = Unirse
joining = Entrando…
sign-in = Iniciar sesión
sign-in-as = Iniciar sesión como { $name }
or = o
continue-with = Continuar con { $provider }
accounts-only = Este servidor solo acepta cuentas de { $provider }.
signed-in-at = Has iniciado sesión en { $provider }.
by-account = Con tu cuenta de { $provider }.
other-account = Usar otra cuenta
sign-in-method-refused = Este servidor ya no acepta la forma en que iniciabas sesión.
provider-cancelled = No terminaste de iniciar sesión en { $provider }.
provider-mismatch = Este inicio de sesión no empezó en esta pestaña. Inténtalo de nuevo.
provider-refused = { $provider } rechazó el inicio de sesión: { $reason }
am-new = Es mi primera vez aquí
have-code = Ya soy miembro, en otro dispositivo
code = Código
code-text = Inicia sesión en este dispositivo como el miembro que ya eres.
code-hint = En tu otro dispositivo: Ajustes, Dispositivos. Si has perdido todos tus dispositivos, usa el código de recuperación que guardaste o pide uno al propietario del servidor; eso cierra la sesión en los demás.
code-missing = Escribe el código.
add-device = Añadir este dispositivo
have-certificate = Usar un certificado
certificate = Certificado
certificate-text = Este servidor acepta certificados de { $issuers }.
certificate-unreadable = Esto no es un certificado. Un certificado es una sola línea larga con dos puntos (.) dentro.
certificate-other-key = Este certificado es para la clave de otro navegador. Pide uno para la clave de este navegador.
public-key = La clave pública de este navegador
public-key-text = La necesita quien emita tu certificado. No es secreta.
copy = Copiar
load-file = Cargar desde un archivo
waiting-title = Esperando aprobación
waiting-text = Alguien tiene que dejarte entrar. Deja esta página abierta: continuará sola.
back-to-form = Volver al formulario
approval-refused-because = No te han dejado entrar: { $reason }
banned-because = Te han baneado de este servidor: { $reason }

## First steps

first-steps = Tu servidor está listo
step-number = Paso { $number } de { $count }
step-skip = Omitir
step-done = Hecho:
step-name = Pon nombre a tu servidor
step-named = Tu servidor se llama { $name }
server-name-missing = Escribe un nombre.
step-icon = Ponle un icono a tu servidor
step-icon-given = Tu servidor tiene un icono
step-channel = Añade un canal para un tema que te interese
step-channel-do = Añadir un canal
step-invite = Invita a alguien con un enlace
step-invite-do = Crear un enlace
hide-first-steps = Ocultar estos pasos
newcomer-title = Te damos la bienvenida a { $server }
newcomer-channels = Qué hay aquí
offer-title = Útil más adelante
offer-notifications-text = Entérate cuando alguien te mencione o te escriba.
offer-notifications = Activar las notificaciones
offer-code-text = Con un código de recuperación puedes volver si pierdes este dispositivo.
offer-code = Crear un código de recuperación
