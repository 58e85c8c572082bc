"""The server under test, over REST, for clients of other protocols; its URL is the first argument of their scripts."""
import hashlib
import json
import sys
import time
import urllib.error
import urllib.request

url = sys.argv[1]


def rest(method, path, body=None, token=None):
    return _answered(method, path, None if body is None else json.dumps(body).encode(), 'application/json', token)


def _answered(method, path, data, content_type, token):
    request = urllib.request.Request(url + path, method=method, data=data)
    request.add_header('Content-Type', content_type)
    if token is not None:
        request.add_header('X-Authorization', f'Bearer {token}')
    try:
        with urllib.request.urlopen(request, timeout=90) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        error.msg = f'{error.msg}: {error.read().decode()[:300]}'
        raise
    return json.loads(text) if text else None


def log_in(user, password):
    return rest('POST', '/api/auth/login', {'username': user, 'password': password})['token']


def holds(question, seconds=60):
    end = time.monotonic() + seconds
    while not (found := question()):
        assert time.monotonic() < end, 'it does not come to hold'
        time.sleep(0.02)
    return found


def latest(device_id, key, token):
    """Its newest value as text; None: there is none."""
    path = f'/api/plugins/telemetry/DEVICE/{device_id}/values/timeseries?keys={urllib.request.quote(key)}'
    values = rest('GET', path, token=token).get(key)
    return values[0]['value'] if values else None


def client_attribute(device_id, key, token):
    path = f'/api/plugins/telemetry/DEVICE/{device_id}/values/attributes/CLIENT_SCOPE?keys={key}'
    values = rest('GET', path, token=token)
    return values[0]['value'] if values else None


def share(device_id, values, token):
    rest('POST', f'/api/plugins/telemetry/DEVICE/{device_id}/SHARED_SCOPE', values, token)


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


def provisioning_profile(token):
    """Devices are made with key `key` and secret `secret`."""
    rest('POST', '/api/deviceProfile', {
        'name': 'made', 'type': 'DEFAULT', 'transportType': 'DEFAULT', 'provisionType': 'ALLOW_CREATE_NEW_DEVICES',
        'provisionDeviceKey': 'key', 'profileData': {
            'configuration': {'type': 'DEFAULT'}, 'transportConfiguration': {'type': 'DEFAULT'},
            'provisionConfiguration': {'type': 'ALLOW_CREATE_NEW_DEVICES', 'provisionDeviceSecret': 'secret'}},
    }, token)


def is_claimed(name, secret):
    """By the demo customer, who then gives it back; False: it is not on offer with this secret."""
    customer = log_in('customer@millrace.local', 'customer')
    try:
        claimed = rest('POST', f'/api/customer/device/{name}/claim', {'secretKey': secret}, customer)
    except urllib.error.HTTPError as error:
        assert error.code == 400, error
        return False
    assert claimed['response'] == 'SUCCESS' and claimed['device']['name'] == name, claimed
    rest('DELETE', f'/api/customer/device/{name}/claim', token=customer)
    return True


def assign_firmware(device_id, image, token):
    """Uploads the image as `pump-app` 2 of the device's profile and says that the device is to have it."""
    device = rest('GET', f'/api/device/{device_id}', token=token)
    package = rest('POST', '/api/otaPackage', {
        'deviceProfileId': device['deviceProfileId'], 'type': 'FIRMWARE', 'title': 'pump-app', 'version': '2'}, token)
    edge = 'edge-of-a-part'
    part = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="image.bin"\r\n\r\n'.encode()
    path = f"/api/otaPackage/{package['id']['id']}?checksumAlgorithm=SHA256&checksum={hashlib.sha256(image).hexdigest()}"
    _answered('POST', path, part + image + f'\r\n--{edge}--\r\n'.encode(), f'multipart/form-data; boundary={edge}', token)
    rest('POST', '/api/device', {**device, 'firmwareId': package['id']}, token)
