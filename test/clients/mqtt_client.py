"""What a device with the official Python MQTT client does: mqtt_client.py URL MQTT_PORT. One line a part: ok NAME, or FAIL NAME: why."""
import sys
import threading
import time

from tb_device_mqtt import TBDeviceMqttClient, TBFirmwareState
from tb_gateway_mqtt import TBGatewayMqttClient

from parts import end, part
from server import (
    assign_firmware, client_attribute, holds, is_claimed, latest, log_in, provisioning_profile, replying_chain, rest, share,
)

mqtt_port = int(sys.argv[2])


class Heard:
    """What callbacks are told."""

    def __init__(self):
        self.values = []
        self.changed = threading.Condition()

    def __call__(self, *values):
        with self.changed:
            self.values.append(values)
            self.changed.notify_all()

    def first(self):
        with self.changed:
            assert self.changed.wait_for(lambda: self.values, 60), 'nothing was heard'
            return self.values[0]


def provisioned(token):
    provisioning_profile(token)
    credentials = TBDeviceMqttClient.provision('127.0.0.1', 'key', 'secret', port=mqtt_port, device_name='made')
    assert credentials['credentialsType'] == 'ACCESS_TOKEN', credentials
    device = rest('GET', '/api/tenant/devices?deviceName=made', token=token)
    return device['id']['id'], credentials['credentialsValue']


def telemetry(client, device_id, token):
    assert client.send_telemetry({'temperature': 21.5}).get() == 0
    assert holds(lambda: latest(device_id, 'temperature', token)) == '21.5'


def attributes(client, device_id, token):
    heard = Heard()
    client.subscribe_to_attribute('target', heard)
    assert client.send_attributes({'model': 'M1'}).get() == 0
    holds(lambda: client_attribute(device_id, 'model', token))
    share(device_id, {'target': 7}, token)
    assert heard.first()[0] == {'target': 7}, heard.values
    asked = Heard()
    client.request_attributes(['model'], ['target'], callback=asked)
    assert asked.first()[0] == {'client': {'model': 'M1'}, 'shared': {'target': 7}}, asked.values


def calls_to_device(client, device_id, token):
    client.set_server_side_rpc_request_handler(
        lambda request, body: client.send_rpc_reply(request, {'sum': body['params']['a'] + body['params']['b']}))
    call = {'method': 'add', 'params': {'a': 1, 'b': 2}, 'timeout': 60000}
    answer = rest('POST', f'/api/rpc/twoway/{device_id}', call, token)
    assert answer == {'sum': 3}, answer
    rest('POST', f'/api/rpc/oneway/{device_id}', call, token)


def calls_from_device(client):
    heard = Heard()
    client.send_rpc_call('getTime', {'zone': 'UTC'}, heard)
    answer = heard.first()
    assert any(value == {'method': 'getTime', 'params': {'zone': 'UTC'}} for value in answer), answer


def claiming(client):
    client.claim(secret_key='known', duration=60000).get()
    holds(lambda: is_claimed('made', 'known'))


def firmware(client, device_id, token):
    """In parts, whose sum the client checks; it tells each step."""
    image = bytes(index * 7 % 251 for index in range(10_000))
    assign_firmware(device_id, image, token)
    received = Heard()
    client.set_on_firmware_received_callback(received)
    client.get_firmware_update()
    _, data, version = received.first()
    assert (data, version) == (image, '2'), (len(data), version)
    assert holds(lambda: latest(device_id, 'fw_state', token) == 'VERIFIED')
    client.update_firmware_info('pump-app', '2', TBFirmwareState.UPDATED)
    holds(lambda: latest(device_id, 'current_fw_version', token) == '2')


def gateway_of(token):
    gateway = {'name': 'gateway', 'type': 'default', 'additionalInfo': {'gateway': True}}
    rest('POST', '/api/device?accessToken=GATEWAY', gateway, token)
    client = TBGatewayMqttClient('127.0.0.1', mqtt_port, 'GATEWAY')
    client.connect()
    holds(client.is_connected)
    return client


def behind_gateway(gateway, token):
    """Two devices over one connection: one connected with its type, one made by its first message."""
    assert gateway.gw_connect_device('pump', 'pumps').get() == 0
    assert gateway.gw_send_telemetry('pump', {'ts': int(time.time() * 1000), 'values': {'pressure': 2.5}}).get() == 0
    assert gateway.gw_send_telemetry('valve', [{'open': True}]).get() == 0
    pump, valve = (rest('GET', f'/api/tenant/devices?deviceName={name}', token=token) for name in ('pump', 'valve'))
    assert (pump['type'], valve['type']) == ('pumps', 'default')
    for device, key, value in ((pump, 'pressure', '2.5'), (valve, 'open', 'true')):
        assert holds(lambda: latest(device['id']['id'], key, token)) == value
    pump_id = pump['id']['id']
    heard = Heard()
    gateway.gw_subscribe_to_attribute('pump', 'target', heard)
    assert gateway.gw_send_attributes('pump', {'model': 'M2'}).get() == 0
    holds(lambda: client_attribute(pump_id, 'model', token))
    share(pump_id, {'target': 8}, token)
    assert heard.first()[0] == {'device': 'pump', 'data': {'target': 8}}, heard.values
    asked = Heard()
    gateway.gw_request_client_attributes('pump', ['model'], asked)
    assert asked.first()[0]['value'] == 'M2', asked.values
    asked = Heard()
    gateway.gw_request_shared_attributes('pump', ['target', 'absent'], asked)
    assert asked.first()[0]['values'] == {'target': 8}, asked.values
    gateway.gw_set_server_side_rpc_request_handler(
        lambda client, body: client.gw_send_rpc_reply(body['device'], body['data']['id'], {'got': body['data']['params']}))
    call = {'method': 'set', 'params': {'a': 1}, 'timeout': 60000}
    answer = rest('POST', f'/api/rpc/twoway/{pump_id}', call, token)
    assert answer == {'got': {'a': 1}}, answer
    assert gateway.gw_disconnect_device('pump').get() == 0


token = log_in('tenant@millrace.local', 'tenant')
replying_chain(token)
device_id, credentials = part('provisioning', provisioned, token) or ('', '')
client = TBDeviceMqttClient('127.0.0.1', mqtt_port, credentials, chunk_size=4096)
client.connect()
holds(client.is_connected)
part('telemetry', telemetry, client, device_id, token)
part('attributes', attributes, client, device_id, token)
part('calls to the device', calls_to_device, client, device_id, token)
part('calls from the device', calls_from_device, client)
part('firmware', firmware, client, device_id, token)
part('claiming', claiming, client)
client.stop()
client.disconnect()
gateway = gateway_of(token)
part('devices behind a gateway', behind_gateway, gateway, token)
gateway.stop()
gateway.disconnect()
end()
