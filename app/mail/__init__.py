"""Mail: what is to be sent waits in an outbox, written in the transaction of its cause; a worker sends it. Who may be told what is
decided by those who write the letters, at the moment of sending."""
