"""A server over HTTP that misbehaves in one way, which the first argument names. It prints its port."""

import itertools
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODE = sys.argv[1]
LISTED = 0
REPLIES = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_) -> None:
        pass

    def respond(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, request: dict, result: dict, **headers: str) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        self.respond(200, body, Content_Type="application/json", **headers)

    def begin_events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, message: dict) -> None:
        self.wfile.write(f"data: {json.dumps({'jsonrpc': '2.0', **message})}\n\n".encode())
        self.wfile.flush()

    def do_GET(self) -> None:
        if MODE != "broken-streams":
            return self.respond(405)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        # The body ends before its length, so the client sees an error.
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"id: 1\nretry: 0\ndata:\n\n")
        self.close_connection = True

    def do_DELETE(self) -> None:
        self.respond(200)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method = request.get("method")
        if MODE == "unauthorized":
            return self.respond(401, WWW_Authenticate='Bearer resource_metadata="https://a.example/m"')
        if MODE == "redirect":
            return self.respond(307, Location="http://127.0.0.1:1/mcp")
        if method == "server/discover":
            return self.respond(400)
        if method == "initialize":
            server = {"name": "hostile", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
            return self.answer(request, result, Mcp_Session_Id="s" * (5000 if MODE == "long-session" else 5))
        if method is None:
            global REPLIES
            REPLIES += 1
        if "id" not in request or method is None:
            return self.respond(202)
        if method == "tools/list":
            return self.list_tools(request)
        self.call(request)

    def list_tools(self, request: dict) -> None:
        global LISTED
        LISTED += 1
        schema = {"type": "object", "description": "d" * 1_000_000}
        self.answer(request, {"tools": [{"name": f"tool_{LISTED}", "inputSchema": schema}]})

    def call(self, request: dict) -> None:
        result = {"content": [{"type": "text", "text": "done"}]}
        if MODE == "huge-body":
            return self.answer(request, {"content": [{"type": "text", "text": "r" * 20_000_000}]})
        if MODE == "values":
            body = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"x":[%s0]}}' % (request["id"], b"0," * 3_000_000)
            return self.respond(200, body, Content_Type="application/json")
        if MODE == "html":
            return self.respond(200, b"<html></html>", Content_Type="text/html")
        if MODE == "not-json":
            return self.respond(200, b"oops", Content_Type="application/json")
        if MODE == "expired":
            return self.respond(404)
        if MODE == "busy":
            return self.respond(503, Retry_After="17")
        if MODE == "logged-out":
            return self.respond(401, WWW_Authenticate="Bearer " + "x" * 20_000)
        if MODE == "never-answers":
            time.sleep(600)
        if MODE in ("answer", "long-session", "other-tools", "broken-streams"):
            return self.answer(request, result)
        self.begin_events()
        if MODE == "endless-event":
            while True:
                self.wfile.write(b"data: " + b"x" * 65536)
        if MODE == "comments":
            while True:
                self.wfile.write(b": still here\n\n" * 1000)
        if MODE == "noise-events":
            while True:
                self.wfile.write(b"data: still here\n\n" * 1000)
        if MODE in ("log-flood", "endless-logs"):
            for number in itertools.count():
                self.event({"method": "notifications/message", "params": {"level": "info", "data": "d" * 1_000}})
                if MODE == "log-flood" and number == 1_000:
                    break
        if MODE == "late-answers":
            for number in range(1_000):
                self.event({"id": 1_000_000 + number, "result": {"content": [{"type": "text", "text": "d" * 1_000}]}})
        if MODE == "malformed-event":
            self.event({"id": request["id"], "result": {"content": 5}})
            time.sleep(600)
        if MODE == "ends-early":
            return
        if MODE == "sampling":
            for number in range(10_000):
                message = {"role": "user", "content": {"type": "text", "text": "go on"}}
                params = {"messages": [message], "maxTokens": 10}
                self.event({"id": f"s{number}", "method": "sampling/createMessage", "params": params})
                while REPLIES <= number:
                    time.sleep(0.001)
        self.event({"id": request["id"], "result": result})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
