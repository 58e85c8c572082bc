"""An edge node with pysparkplug: sparkplug_client.py URL MQTT_PORT. One line a part: ok NAME, or FAIL NAME: why."""
import sys
import threading
import time
import urllib.error
import urllib.request

import pysparkplug as psp

from parts import end, part
from server import latest, log_in, rest

mqtt_port = int(sys.argv[2])


token = log_in('tenant@millrace.local', 'tenant')
profile = {
    'name': 'edge node', 'type': 'DEFAULT', 'transportType': 'MQTT',
    'profileData': {
        'configuration': {'type': 'DEFAULT'}, 'provisionConfiguration': {'type': 'DISABLED'},
        'transportConfiguration': {'type': 'MQTT', 'sparkplug': True},
    },
}
rest('POST', '/api/deviceProfile', profile, token)
rest('POST', '/api/device?accessToken=PY_NODE', {'name': 'py node', 'type': 'edge node'}, token)


def device_id(name):
    return rest('GET', '/api/tenant/devices?deviceName=' + urllib.request.quote(name), token=token)['id']['id']


def becomes(name, key, value):
    until = time.monotonic() + 60
    found = None
    while time.monotonic() < until:
        try:
            found = latest(device_id(name), key, token)
        except urllib.error.HTTPError:
            found = 'no such device'
        if found == value:
            return
    raise AssertionError(f'{name} {key} is {found}, not {value}')


class Commands:
    def __init__(self):
        self.values = []
        self.changed = threading.Condition()

    def __call__(self, _node, message):
        with self.changed:
            self.values += [(metric.name, metric.value) for metric in message.payload.metrics]
            self.changed.notify_all()

    def wait_for(self, wanted):
        with self.changed:
            assert self.changed.wait_for(lambda: wanted in self.values, 60), self.values


class NodeClient(psp.Client):
    """Its wills have QoS 0; the specification says 1."""

    def set_will(self, message):
        super().set_will(psp.Message(message.topic, message.payload, psp.QoS.AT_LEAST_ONCE, False))


def metric(name, datatype, value):
    return psp.Metric(psp.get_current_timestamp(), name, datatype, value=value)


node_commands, device_commands = Commands(), Commands()
node = psp.EdgeNode(
    'lib', 'node',
    [metric('load', psp.DataType.INT16, -3), metric('Node Control/Rebirth', psp.DataType.BOOLEAN, False)],
    client=NodeClient(username='PY_NODE'), cmd_callback=node_commands,
)
device = psp.Device(
    'D',
    [metric('temperature', psp.DataType.DOUBLE, 20.25), metric('name', psp.DataType.STRING, 'first')],
    cmd_callback=device_commands,
)


def born():
    node.register(device)
    node.connect('127.0.0.1', port=mqtt_port)
    becomes('py node', 'load', '-3')
    becomes('lib:node:D', 'temperature', '20.25')
    becomes('lib:node:D', 'sparkplugConnectionState', 'ONLINE')


def data():
    node.update([metric('load', psp.DataType.INT16, 300)])
    node.update_device('D', [metric('temperature', psp.DataType.DOUBLE, 21.5), metric('name', psp.DataType.STRING, 'second')])
    becomes('py node', 'load', '300')
    becomes('lib:node:D', 'temperature', '21.5')
    becomes('lib:node:D', 'name', 'second')


def commands():
    path = f'/api/plugins/telemetry/DEVICE/{device_id("lib:node:D")}/SHARED_SCOPE'
    rest('POST', path, {'name': 'third'}, token)
    device_commands.wait_for(('name', 'third'))
    call = {'method': 'NCMD', 'params': {'metricName': 'load', 'value': 17}}
    assert rest('POST', f'/api/rpc/twoway/{device_id("py node")}', call, token) == {'result': 'Success: NCMD'}
    node_commands.wait_for(('load', 17))


def device_death():
    node.deregister('D')
    becomes('lib:node:D', 'sparkplugConnectionState', 'OFFLINE')
    becomes('py node', 'sparkplugConnectionState', 'ONLINE')


def death():
    node.disconnect()
    becomes('py node', 'sparkplugConnectionState', 'OFFLINE')


for name, run in [('birth', born), ('data', data), ('commands', commands), ('device death', device_death), ('death', death)]:
    part(name, run)
end()
