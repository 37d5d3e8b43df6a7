"""Who is asking: access tokens and the origins whose pages may ask at all."""
