"""`python -m tests.gallery [PORT]`: serves the gallery on the loopback address until interrupted."""

import sys

from tests.gallery.site import serve

if __name__ == "__main__":
    server = serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8765)
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}/\n")
    server.serve_forever()
