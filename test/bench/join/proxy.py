"""A port before the server of PGPORT that counts the bytes which pass, both ways."""

import os
import select
import socket
import threading


class Proxy:
    """Passes connections on to the server, and counts the bytes both ways."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.bytes = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.socket.accept()
            far = socket.create_connection(("127.0.0.1", int(os.environ["PGPORT"])))
            threading.Thread(target=self.pass_on, args=(near, far), daemon=True).start()

    def pass_on(self, near, far):
        other = {near: far, far: near}
        while True:
            for ready in select.select((near, far), (), ())[0]:
                data = ready.recv(1 << 20)
                if not data:
                    near.close()
                    far.close()
                    return
                self.bytes += len(data)
                other[ready].sendall(data)
