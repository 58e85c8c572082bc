"""What a device with paho does, in MQTT 5: paho_client.py URL MQTT_PORT. One line a part: ok NAME, or FAIL NAME: why."""
import itertools
import json
import queue
import sys

from paho.mqtt.client import Client, CallbackAPIVersion, MQTTv5

from parts import end, part
from server import (
    assign_firmware, client_attribute, holds, is_claimed, latest, log_in, provisioning_profile, replying_chain, rest, share,
)

mqtt_port = int(sys.argv[2])
ME = 'v1/devices/me'
requests = itertools.count(1)


class Device:
    """A connection, and the messages of each of its topics as they came."""

    def __init__(self, user, filters=()):
        self.arrived = {}
        connected, granted = queue.Queue(), queue.Queue()
        self.client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
        self.client.username_pw_set(user)
        self.client.on_connect = lambda client, data, flags, reason, properties: connected.put(reason)
        self.client.on_subscribe = lambda client, data, number, reasons, properties: granted.put(reasons)
        self.client.on_message = lambda client, data, message: self._of(message.topic).put(message.payload)
        self.client.connect('127.0.0.1', mqtt_port)
        self.client.loop_start()
        reason = connected.get(timeout=60)
        assert not reason.is_failure, reason
        for wanted in filters:
            self.client.subscribe(wanted, qos=1)
            assert not any(reason.is_failure for reason in granted.get(timeout=60)), wanted

    def _of(self, topic):
        return self.arrived.setdefault(topic, queue.Queue())

    def sends(self, topic, body, qos=1):
        payload = body if isinstance(body, (bytes, str)) else json.dumps(body)
        self.client.publish(topic, payload, qos).wait_for_publish(60)

    def hears(self, topic):
        return self._of(topic).get(timeout=60)

    def hears_json(self, topic):
        return json.loads(self.hears(topic))

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()


def provisioned(token):
    provisioning_profile(token)
    device = Device('provision', ['/provision/response'])
    device.sends('/provision/request', {'deviceName': 'made', 'provisionDeviceKey': 'key', 'provisionDeviceSecret': 'secret'})
    answer = device.hears_json('/provision/response')
    device.close()
    assert (answer['status'], answer['credentialsType']) == ('SUCCESS', 'ACCESS_TOKEN'), answer
    return rest('GET', '/api/tenant/devices?deviceName=made', token=token)['id']['id'], answer['credentialsValue']


def telemetry(device, device_id, token):
    for qos in range(3):
        device.sends(f'{ME}/telemetry', {f'of-quality-{qos}': qos}, qos)
    for qos in range(3):
        assert holds(lambda: latest(device_id, f'of-quality-{qos}', token)) == str(qos)


def attributes(device, device_id, token):
    device.sends(f'{ME}/attributes', {'model': 'M1'})
    holds(lambda: client_attribute(device_id, 'model', token))
    share(device_id, {'target': 7}, token)
    assert device.hears_json(f'{ME}/attributes') == {'target': 7}
    number = next(requests)
    device.sends(f'{ME}/attributes/request/{number}', {'clientKeys': 'model', 'sharedKeys': 'target'})
    answer = device.hears_json(f'{ME}/attributes/response/{number}')
    assert answer == {'client': {'model': 'M1'}, 'shared': {'target': 7}}, answer


def calls_to_device(device, device_id, token):
    def answers(client, data, message):
        client.publish(message.topic.replace('request', 'response'), json.dumps({'got': json.loads(message.payload)['params']}), 1)

    device.client.message_callback_add(f'{ME}/rpc/request/+', answers)
    call = {'method': 'set', 'params': {'a': 1}, 'timeout': 60000}
    answer = rest('POST', f'/api/rpc/twoway/{device_id}', call, token)
    assert answer == {'got': {'a': 1}}, answer


def calls_from_device(device):
    number = next(requests)
    device.sends(f'{ME}/rpc/request/{number}', {'method': 'getTime', 'params': {'zone': 'UTC'}})
    answer = device.hears_json(f'{ME}/rpc/response/{number}')
    assert answer == {'method': 'getTime', 'params': {'zone': 'UTC'}}, answer


def firmware(device, device_id, token):
    image = bytes(index * 7 % 251 for index in range(10_000))
    assign_firmware(device_id, image, token)
    told = device.hears_json(f'{ME}/attributes')
    assert (told['fw_title'], told['fw_version'], told['fw_size']) == ('pump-app', '2', len(image)), told
    number, parts = next(requests), []
    while sum(map(len, parts)) < len(image):
        device.sends(f'v2/fw/request/{number}/chunk/{len(parts)}', '4096')
        parts.append(device.hears(f'v2/fw/response/{number}/chunk/{len(parts)}'))
    assert b''.join(parts) == image, [len(part) for part in parts]


def claiming(device):
    device.sends(f'{ME}/claim', {'secretKey': 'known', 'durationMs': 60000})
    holds(lambda: is_claimed('made', 'known'))


token = log_in('tenant@millrace.local', 'tenant')
replying_chain(token)
device_id, credentials = part('provisioning', provisioned, token) or ('', '')
filters = [f'{ME}/attributes', f'{ME}/attributes/response/+', f'{ME}/rpc/request/+', f'{ME}/rpc/response/+', 'v2/fw/response/+/chunk/+']
device = Device(credentials, filters)
part('telemetry', telemetry, device, device_id, token)
part('attributes', attributes, device, device_id, token)
part('calls to the device', calls_to_device, device, device_id, token)
part('calls from the device', calls_from_device, device)
part('firmware', firmware, device, device_id, token)
part('claiming', claiming, device)
device.close()
end()
