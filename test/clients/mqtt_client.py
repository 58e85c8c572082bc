"""What a device with the official Python MQTT client does: mqtt_client.py URL MQTT_PORT. One line a part: ok NAME, or FAIL NAME: why."""
import json
import sys
import threading
import time
import urllib.error
import urllib.request

from tb_device_mqtt import TBDeviceMqttClient
from tb_gateway_mqtt import TBGatewayMqttClient

from parts import end, part

url, mqtt_port = sys.argv[1], int(sys.argv[2])


def rest(method, path, body=None, token=None):
    request = urllib.request.Request(url + path, method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header('Content-Type', 'application/json')
    if token is not None:
        request.add_header('X-Authorization', f'Bearer {token}')
    with urllib.request.urlopen(request, timeout=90) as answer:
        text = answer.read().decode()
    return json.loads(text) if text else None


def log_in(user, password):
    return rest('POST', '/api/auth/login', {'username': user, 'password': password})['token']


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


def holds(question, seconds=60):
    end = time.monotonic() + seconds
    while not (found := question()):
        assert time.monotonic() < end, 'it does not come to hold'
        time.sleep(0.02)
    return found


def replying_chain(token):
    """The root chain answers what devices ask with what they asked."""
    chain = next(c for c in rest('GET', '/api/ruleChains?pageSize=100&page=0', token=token)['data'] if c['root'])
    graph = rest('GET', f"/api/ruleChain/{chain['id']['id']}/metadata", token=token)
    switch = next(i for i, node in enumerate(graph['nodes']) if node['type'].endswith('TbMsgTypeSwitchNode'))
    graph['nodes'].append({
        'type': 'org.thingsboard.rule.engine.rpc.TbSendRPCReplyNode', 'name': 'reply', 'configurationVersion': 0,
        'configuration': {'serviceIdMetaDataAttribute': 'serviceId', 'sessionIdMetaDataAttribute': 'sessionId',
                          'requestIdMetaDataAttribute': 'requestId'},
        'additionalInfo': {},
    })
    graph['connections'] = [c for c in graph['connections'] if c['type'] != 'RPC Request from Device']
    graph['connections'].append({'fromIndex': switch, 'toIndex': len(graph['nodes']) - 1, 'type': 'RPC Request from Device'})
    rest('POST', '/api/ruleChain/metadata', graph, token)


def provisioned(token):
    rest('POST', '/api/deviceProfile', {
        'name': 'made', 'type': 'DEFAULT', 'transportType': 'DEFAULT', 'provisionType': 'ALLOW_CREATE_NEW_DEVICES',
        'provisionDeviceKey': 'key', 'profileData': {
            'configuration': {'type': 'DEFAULT'}, 'transportConfiguration': {'type': 'DEFAULT'},
            'provisionConfiguration': {'type': 'ALLOW_CREATE_NEW_DEVICES', 'provisionDeviceSecret': 'secret'}},
    }, token)
    credentials = TBDeviceMqttClient.provision('127.0.0.1', 'key', 'secret', port=mqtt_port, device_name='made')
    assert credentials['credentialsType'] == 'ACCESS_TOKEN', credentials
    device = rest('GET', '/api/tenant/devices?deviceName=made', token=token)
    return device['id']['id'], credentials['credentialsValue']


def telemetry(client, device_id, token):
    assert client.send_telemetry({'temperature': 21.5}).get() == 0
    path = f'/api/plugins/telemetry/DEVICE/{device_id}/values/timeseries?keys=temperature'
    assert holds(lambda: rest('GET', path, token=token).get('temperature'))[0]['value'] == '21.5'


def attributes(client, device_id, token):
    heard = Heard()
    client.subscribe_to_attribute('target', heard)
    assert client.send_attributes({'model': 'M1'}).get() == 0
    path = f'/api/plugins/telemetry/DEVICE/{device_id}/values/attributes/CLIENT_SCOPE?keys=model'
    holds(lambda: rest('GET', path, token=token))
    rest('POST', f'/api/plugins/telemetry/DEVICE/{device_id}/attributes/SHARED_SCOPE', {'target': 7}, token)
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


def claiming(client, token):
    customer = log_in('customer@millrace.local', 'customer')
    client.claim(secret_key='known', duration=60000).get()
    claimed = holds(lambda: tried(customer, 'known'))
    assert claimed['response'] == 'SUCCESS' and claimed['device']['name'] == 'made', claimed
    rest('DELETE', '/api/customer/device/made/claim', token=token)


def tried(token, secret):
    try:
        return rest('POST', '/api/customer/device/made/claim', {'secretKey': secret}, token)
    except urllib.error.HTTPError as error:
        assert error.code == 400, error
        return None


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
        path = f"/api/plugins/telemetry/DEVICE/{device['id']['id']}/values/timeseries?keys={key}"
        assert holds(lambda: rest('GET', path, token=token).get(key))[0]['value'] == value
    values = f"/api/plugins/telemetry/DEVICE/{pump['id']['id']}"
    heard = Heard()
    gateway.gw_subscribe_to_attribute('pump', 'target', heard)
    assert gateway.gw_send_attributes('pump', {'model': 'M2'}).get() == 0
    holds(lambda: rest('GET', f'{values}/values/attributes/CLIENT_SCOPE?keys=model', token=token))
    rest('POST', f'{values}/attributes/SHARED_SCOPE', {'target': 8}, token)
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
    answer = rest('POST', f"/api/rpc/twoway/{pump['id']['id']}", call, token)
    assert answer == {'got': {'a': 1}}, answer
    assert gateway.gw_disconnect_device('pump').get() == 0


token = log_in('tenant@millrace.local', 'tenant')
replying_chain(token)
device_id, credentials = part('provisioning', provisioned, token) or ('', '')
client = TBDeviceMqttClient('127.0.0.1', mqtt_port, credentials)
client.connect()
holds(client.is_connected)
part('telemetry', telemetry, client, device_id, token)
part('attributes', attributes, client, device_id, token)
part('calls to the device', calls_to_device, client, device_id, token)
part('calls from the device', calls_from_device, client)
part('claiming', claiming, client, token)
client.stop()
client.disconnect()
gateway = gateway_of(token)
part('devices behind a gateway', behind_gateway, gateway, token)
gateway.stop()
gateway.disconnect()
end()
