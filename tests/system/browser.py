# SPDX-License-Identifier: MIT
"""A headless Chromium, driven by chromedriver over its HTTP interface: real clicks, real keys. For the tests of pages."""
import base64
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request


class Browser:
    def __init__(self, width=1400, height=800):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", "--port=%d" % port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = "http://127.0.0.1:%d" % port
        self.session = ""
        try:
            self.until(lambda: self._answers())
            options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=%d,%d" % (width, height)]}
            self.session = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": options}}})["sessionId"]
        except BaseException:
            self.driver.kill()
            raise

    def _answers(self):
        try:
            return self.call("GET", "/status")
        except OSError:
            return None

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + self.session + path, method=method, data=data,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:1000]) from None

    def until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.05)
        raise RuntimeError("the browser did not come to it in %d s" % seconds)

    def open(self, path):
        self.go("file://" + path)

    def go(self, url):
        self.call("POST", "/url", {"url": url})

    def js(self, code, *args):
        return self.call("POST", "/execute/sync", {"script": code, "args": list(args)})

    def size(self, width, height, ratio=1):
        """The page's window, smaller than a desktop's may be. ratio: pixels of the screen to one of the page."""
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False}})

    def own_size(self):
        """The window as it was before size()."""
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})

    def printed(self):
        """The page on paper, as PDF. The driver's own way to print has a time limit of 10 s."""
        return base64.b64decode(self.call("POST", "/goog/cdp/execute", {"cmd": "Page.printToPDF", "params": {"printBackground": True}})["data"])

    def errors(self):
        return [line["message"] for line in self.call("POST", "/se/log", {"type": "browser"}) if line["level"] in ("SEVERE", "WARNING")]

    def _actions(self, *sources):
        self.call("POST", "/actions", {"actions": list(sources)})

    def _mouse(self, *steps):
        self._actions({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": list(steps)})

    def click(self, x, y, button=0):
        self._mouse({"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": button},
                    {"type": "pointerUp", "button": button})

    def drag(self, x0, y0, x1, y1):
        self._mouse({"type": "pointerMove", "x": round(x0), "y": round(y0)}, {"type": "pointerDown", "button": 0},
                    {"type": "pointerMove", "duration": 50, "x": round((x0 + x1) / 2), "y": round(y1)},
                    {"type": "pointerMove", "duration": 50, "x": round(x1), "y": round(y1)}, {"type": "pointerUp", "button": 0})

    def click_on(self, selector):
        at = self.js("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'nearest'});"
                     "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]", selector)
        self.click(*at)

    def keys(self, *keys):
        steps = []
        for key in keys:
            steps += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._actions({"type": "key", "id": "keys", "actions": steps})

    def paste(self):
        """Ctrl and V, where the focus is."""
        control = "\ue009"
        self._actions({"type": "key", "id": "keys", "actions": [{"type": kind, "value": key} for kind, key in (
            ("keyDown", control), ("keyDown", "v"), ("keyUp", "v"), ("keyUp", control))]})

    def screenshot(self):
        return self.call("GET", "/screenshot")

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.kill()
            self.driver.wait()
