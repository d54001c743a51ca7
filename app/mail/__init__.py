"""Mail: a mail waits in an outbox, written in the transaction of its cause, until a worker sends it. The writers of the
letters decide at the moment of sending who may be told what.

outbox.py takes a mail, sending.py sends it, retry_pauses.py says when to try again. server.py speaks to the mail
server, and says if it refuses us or one address. account_letters.py writes the letters about accounts, and says how
many for a forgotten password are sent in an hour.
"""
