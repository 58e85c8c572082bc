"""What a device with aiocoap does: coap_client.py URL COAP_PORT. One line a part: ok NAME, or FAIL NAME: why."""
import asyncio
import json
import sys

import aiocoap
from aiocoap import GET, POST, Code, Context, Message

from parts import end, part
from server import (
    assign_firmware, client_attribute, holds, is_claimed, latest, log_in, provisioning_profile, replying_chain, rest, share,
)

here = f'coap://127.0.0.1:{int(sys.argv[2])}'
IMAGE = bytes(index * 7 % 251 for index in range(10_000))


async def asked(context, code, path, body=None, expected=None, **options):
    payload = b'' if body is None else json.dumps(body).encode()
    answer = await asyncio.wait_for(
        context.request(Message(code=code, uri=f'{here}/{path}', payload=payload, **options)).response, 60)
    assert answer.code == (expected or (Code.CREATED if code == POST else Code.CONTENT)), (path, answer.code, answer.payload)
    return answer


async def elsewhere(run, *values):
    """REST waits for what the client does meanwhile."""
    return await asyncio.to_thread(run, *values)


class Observed:
    """A resource and what it tells."""

    def __init__(self, context, path):
        self.request = context.request(Message(code=GET, uri=f'{here}/{path}', observe=0))
        self.told = asyncio.Queue()
        self.request.observation.register_callback(self.told.put_nowait)

    async def first(self):
        return await asyncio.wait_for(self.request.response, 60)

    async def next(self):
        return (await asyncio.wait_for(self.told.get(), 60)).payload

    def close(self):
        self.request.observation.cancel()


async def provisioned(context, token):
    provisioning_profile(token)
    request = {'deviceName': 'made', 'provisionDeviceKey': 'key', 'provisionDeviceSecret': 'secret'}
    credentials = json.loads((await asked(context, POST, 'api/v1/provision', request)).payload)
    assert (credentials['status'], credentials['credentialsType']) == ('SUCCESS', 'ACCESS_TOKEN'), credentials
    return rest('GET', '/api/tenant/devices?deviceName=made', token=token)['id']['id'], credentials['credentialsValue']


async def telemetry(context, device_id, credentials, token):
    place = f'api/v1/{credentials}/telemetry'
    await asked(context, POST, place, {'temperature': 21.5})
    await asked(context, POST, place, {'unconfirmed': 1}, mtype=aiocoap.NON)
    # In blocks.
    await asked(context, POST, place, {f'key{index}': 'x' * 50 for index in range(100)})
    for key, value in [('temperature', '21.5'), ('unconfirmed', '1'), ('key99', 'x' * 50)]:
        holds(lambda: latest(device_id, key, token) == value)
    await asked(context, POST, 'api/v1/nobody/telemetry', {'temperature': 1}, Code.UNAUTHORIZED)
    await asked(context, POST, place, 7, Code.BAD_REQUEST)


async def attributes(context, device_id, credentials, token):
    place = f'api/v1/{credentials}/attributes'
    observed = Observed(context, place)
    assert json.loads((await observed.first()).payload) == {}
    await asked(context, POST, place, {'model': 'M1'})
    holds(lambda: client_attribute(device_id, 'model', token) == 'M1')
    share(device_id, {'target': 7}, token)
    assert json.loads(await observed.next()) == {'target': 7}
    rest('DELETE', f'/api/plugins/telemetry/DEVICE/{device_id}/SHARED_SCOPE?keys=target', token=token)
    assert json.loads(await observed.next()) == {'deleted': ['target']}
    observed.close()
    # More than a block.
    share(device_id, {'text': 'y' * 5000}, token)
    answer = await asked(context, GET, f'{place}?clientKeys=model&sharedKeys=text')
    assert json.loads(answer.payload) == {'client': {'model': 'M1'}, 'shared': {'text': 'y' * 5000}}, answer.payload


async def calls_to_device(context, device_id, credentials, token):
    place = f'api/v1/{credentials}/rpc'
    observed = Observed(context, place)
    assert (await observed.first()).code == Code.VALID
    call = {'method': 'add', 'params': {'a': 1, 'b': 2}, 'timeout': 60000}
    answered = asyncio.create_task(elsewhere(rest, 'POST', f'/api/rpc/twoway/{device_id}', call, token))
    request = json.loads(await observed.next())
    assert (request['method'], request['params']) == ('add', {'a': 1, 'b': 2}), request
    await asked(context, POST, f"{place}/{request['id']}", {'sum': 3})
    assert await answered == {'sum': 3}
    observed.close()


async def calls_from_device(context, credentials):
    call = {'method': 'getTime', 'params': {'zone': 'UTC'}}
    answer = await asked(context, POST, f'api/v1/{credentials}/rpc', call, Code.CONTENT)
    assert json.loads(answer.payload) == call, answer.payload


async def firmware(context, device_id, credentials, token):
    """In blocks, and in parts of a size."""
    assign_firmware(device_id, IMAGE, token)
    shared = f'/api/plugins/telemetry/DEVICE/{device_id}/values/attributes/SHARED_SCOPE?keys=fw_size'
    holds(lambda: rest('GET', shared, token=token))
    told = await asked(context, GET, f'api/v1/{credentials}/attributes?sharedKeys=fw_title,fw_version,fw_size')
    assert json.loads(told.payload)['shared'] == {'fw_title': 'pump-app', 'fw_version': '2', 'fw_size': len(IMAGE)}
    assert (await asked(context, GET, f'fw/{credentials}?title=pump-app&version=2')).payload == IMAGE
    parts = [(await asked(context, GET, f'fw/{credentials}?size=4096&chunk={chunk}')).payload for chunk in range(3)]
    assert [len(each) for each in parts] == [4096, 4096, 1808] and b''.join(parts) == IMAGE
    await asked(context, POST, f'api/v1/{credentials}/telemetry', {'fw_state': 'UPDATED', 'current_fw_version': '2'})
    holds(lambda: latest(device_id, 'current_fw_version', token) == '2')


async def claiming(context, credentials):
    await asked(context, POST, f'api/v1/{credentials}/claim', {'secretKey': 'known', 'durationMs': 60000})
    holds(lambda: is_claimed('made', 'known'))


async def day():
    token = log_in('tenant@millrace.local', 'tenant')
    replying_chain(token)
    context = await Context.create_client_context()
    made = await tried('provisioning', provisioned(context, token))
    device_id, credentials = made or ('', '')
    await tried('telemetry', telemetry(context, device_id, credentials, token))
    await tried('attributes', attributes(context, device_id, credentials, token))
    await tried('calls to the device', calls_to_device(context, device_id, credentials, token))
    await tried('calls from the device', calls_from_device(context, credentials))
    await tried('firmware', firmware(context, device_id, credentials, token))
    await tried('claiming', claiming(context, credentials))
    await context.shutdown()


async def tried(name, doing):
    outcome = (await asyncio.gather(doing, return_exceptions=True))[0]

    def told():
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return part(name, told)


asyncio.run(day())
end()
