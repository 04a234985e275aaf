# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium, driven over its DevTools protocol: pages, clicks, screenshots, and every request it would send."""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import urllib.parse

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SWITCHES = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--remote-debugging-pipe")


def find():
    """The browser's path, or None."""
    return next((p for p in map(shutil.which, NAMES) if p), None)


class Browser:
    """One page of a browser of its own, whose profile goes with it."""

    def __init__(self, program):
        self.home = tempfile.mkdtemp(prefix="ipcstall-browser-")
        ours, theirs = socket.socketpair()
        inside, outside = os.dup(theirs.fileno()), os.dup(theirs.fileno())
        theirs.close()

        def plumb():  # the browser reads descriptor 3 and writes descriptor 4
            a, b = os.dup(inside), os.dup(outside)
            os.dup2(a, 3, inheritable=True)
            os.dup2(b, 4, inheritable=True)

        self.log = open(os.path.join(self.home, "log"), "wb")
        self.process = subprocess.Popen([program, *SWITCHES, f"--user-data-dir={self.home}/profile", "about:blank"], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, preexec_fn=plumb, close_fds=False)
        os.close(inside)
        os.close(outside)
        self.pipe, self.rest, self.number, self.session, self.seen = ours, b"", 0, None, []
        self.pipe.settimeout(60)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.pipe.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def _message(self):
        while b"\0" not in self.rest:
            more = self.pipe.recv(1 << 20)
            if not more:
                raise EOFError("the browser is gone")
            self.rest += more
        one, _, self.rest = self.rest.partition(b"\0")
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params, **({"sessionId": self.session} if self.session else {})}
        self.pipe.sendall(json.dumps(request).encode() + b"\0")
        while True:
            found = self._message()
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            self.seen.append(found)

    def events(self, method):
        return [e["params"] for e in self.seen if e.get("method") == method]

    def wait_for(self, method):
        while not self.events(method):
            self.seen.append(self._message())

    def open(self, path, width, height=900, dark=False, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.seen = []
        self.call("Page.navigate", url="file://" + urllib.parse.quote(os.path.abspath(path)))
        self.wait_for("Page.loadEventFired")

    def js(self, expression):
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression[:80]}: {found['exceptionDetails']['exception'].get('description')}")
        return found["result"].get("value")

    def mouse(self, kind, x, y, button="none"):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=1 if button == "left" else 0, clickCount=1 if button == "left" else 0)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, "left")
        self.mouse("mouseReleased", x, y, "left")

    def screenshot(self, path, whole=True):
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
            data = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        else:
            data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
