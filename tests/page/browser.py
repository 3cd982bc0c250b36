"""browser.py -- a real Chromium for the tests of the page, over the WebDriver protocol and nothing else: HTTP and JSON.

It can reach 127.0.0.1 alone; whatever it writes to its console, violations of the Content-Security-Policy included, is kept."""
import base64
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
KEYS = {'Enter': '\ue007', 'Escape': '\ue00c', 'Tab': '\ue004', 'Left': '\ue012', 'Up': '\ue013', 'Right': '\ue014', 'Down': '\ue015',
        'Home': '\ue011', 'End': '\ue010', 'Space': ' ', 'Shift': '\ue008', 'Control': '\ue009', 'Backspace': '\ue003'}
DEADLINE = 60  # seconds after which a condition will not come true any more


def missing():
    """The first program that is not there, or None."""
    if not shutil.which('chromedriver'):
        return 'chromedriver'
    return None if binary() else 'chromium'


def binary():
    return next((p for p in map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome')) if p), None)


class Browser:
    def __init__(self, width=1440, height=1000, dark=False):
        self.home = tempfile.mkdtemp(prefix='heed-page-')
        self.process = subprocess.Popen(['chromedriver', '--port=0'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                        env={**os.environ, 'HOME': self.home})
        self.port = None
        while self.port is None:
            line = self.process.stdout.readline().decode()
            if not line:
                raise SystemExit('chromedriver did not start')
            found = re.search(r'started successfully on port (\d+)', line)
            self.port = int(found[1]) if found else None
        arguments = ['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--force-device-scale-factor=1', '--no-first-run',
                     '--disable-background-networking', '--disable-component-update', f'--user-data-dir={self.home}/profile',
                     f'--window-size={width},{height}', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']
        if dark:
            arguments.append('--force-dark-mode')
        said = self.ask('POST', '/session', {'capabilities': {'alwaysMatch': {
            'browserName': 'chrome', 'goog:loggingPrefs': {'browser': 'ALL', 'performance': 'ALL'},
            'goog:chromeOptions': {'binary': binary(), 'args': arguments,
                                   'prefs': {'download.default_directory': self.home, 'download.prompt_for_download': False}}}}})
        self.session = '/session/' + said['sessionId']
        self.emulate(width, height, dark)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=DEADLINE)
        connection.request(method, path, None if body is None else json.dumps(body), {'Content-Type': 'application/json'})
        value = json.loads(connection.getresponse().read())['value']
        connection.close()
        if isinstance(value, dict) and 'error' in value:
            raise RuntimeError(f"{value['error']}: {value['message'][:500]}")
        return value

    def do(self, method, path, body=None):
        return self.ask(method, self.session + path, body)

    def devtools(self, command, **params):
        return self.do('POST', '/goog/cdp/execute', {'cmd': command, 'params': params})

    def emulate(self, width, height, dark=False, motion='no-preference'):
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.devtools('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'},
                                                              {'name': 'prefers-reduced-motion', 'value': motion}])

    def go(self, address):
        self.do('POST', '/url', {'url': address})

    def js(self, script, *arguments):
        """The value of a script; an expression needs no `return`."""
        script = script if script.lstrip().startswith(('return', 'const', 'let')) else 'return ' + script
        return self.do('POST', '/execute/sync', {'script': script, 'args': list(arguments)})

    def later(self, script):
        """What a promise comes to."""
        return self.do('POST', '/execute/async', {'script': f'const done = arguments[0]; (async () => {script})().then(done, (e) => done("" + e));', 'args': []})

    def wait(self, script, *arguments):
        """Until a script gives something; what it gave last if it never does."""
        end = time.monotonic() + DEADLINE
        while True:
            value = self.js(script, *arguments)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.02)

    def find(self, selector):
        return self.do('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT]

    def on(self, selector, what, body):
        """Do something with an element; with the new one where the page has drawn it anew in between."""
        for _ in range(20):
            try:
                return self.do('POST', f'/element/{self.find(selector)}/{what}', body)
            except RuntimeError as problem:
                if not str(problem).startswith('stale element reference'):
                    raise
        raise RuntimeError(f'{selector} is drawn anew all the time')

    def click(self, selector):
        self.on(selector, 'click', {})

    def type(self, selector, text):
        self.on(selector, 'value', {'text': text})

    def fill(self, selector, text):
        self.on(selector, 'clear', {})
        self.type(selector, text)

    def press(self, *names):
        actions = []
        for name in names:
            actions += [{'type': 'keyDown', 'value': KEYS.get(name, name)}, {'type': 'keyUp', 'value': KEYS.get(name, name)}]
        self.do('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keys', 'actions': actions}]})

    def pointer(self, *actions):
        self.do('POST', '/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'}, 'actions': list(actions)}]})

    def hover(self, x, y):
        self.pointer({'type': 'pointerMove', 'duration': 0, 'x': int(x), 'y': int(y)})

    def hover_on(self, script):
        """The middle of the element that a script gives."""
        r = self.js(f'const e = {script}; e.scrollIntoView({{block: "center"}}); const r = e.getBoundingClientRect(); '
                    'return [r.left + r.width / 2, r.top + r.height / 2]')
        self.hover(*r)

    def drag(self, start, end):
        self.pointer({'type': 'pointerMove', 'duration': 0, 'x': int(start[0]), 'y': int(start[1])}, {'type': 'pointerDown', 'button': 0},
                     {'type': 'pointerMove', 'duration': 50, 'x': int(end[0]), 'y': int(end[1])}, {'type': 'pointerUp', 'button': 0})

    def shoot(self, path, is_whole=True):
        """A picture of the window, or of the whole page."""
        size = self.js('[window.innerWidth, document.documentElement.scrollHeight]')
        clip = {'clip': {'x': 0, 'y': 0, 'width': size[0], 'height': size[1], 'scale': 1}, 'captureBeyondViewport': True} if is_whole else {}
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.devtools('Page.captureScreenshot', format='png', **clip)['data']))

    def complaints(self):
        """What the console has that is an error or a warning."""
        return [e['message'] for e in self.do('POST', '/se/log', {'type': 'browser'}) if e['level'] in ('SEVERE', 'WARNING')]

    def addresses(self):
        """All that was asked for since the last call."""
        entries = [json.loads(e['message'])['message'] for e in self.do('POST', '/se/log', {'type': 'performance'})]
        return [e['params']['request']['url'] for e in entries if e['method'] == 'Network.requestWillBeSent']

    def close(self):
        try:
            self.do('DELETE', '')
        except (RuntimeError, OSError):
            pass
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)
