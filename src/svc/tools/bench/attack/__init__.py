"""`svc bench attack`: attack an instance and measure the effect on its honest members."""
