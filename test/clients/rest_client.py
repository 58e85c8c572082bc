"""What a user of the official Python REST client does in a day: rest_client.py URL MQTT_PORT. One line a part: ok NAME, or FAIL NAME: why."""
import base64
import hashlib
import hmac
import json
import struct
import sys
import threading
import time
from urllib.parse import parse_qs, urlparse

from tb_rest_client.models import (
    Alarm, Asset, Customer, Dashboard, Device, EntityRelation, User, EntityDataQuery, EntityCountQuery, EntityDataPageLink,
    EntityTypeFilter, EntityKey, BackupCodeTwoFaProviderConfig, PlatformTwoFaSettings, TotpTwoFaProviderConfig,
)
from tb_rest_client.rest_client import RestClient

from parts import end, part

url, mqtt_port = sys.argv[1], int(sys.argv[2])


def devices(client):
    device = client.save_device(Device(name='pump', type='pumps', label='first'))
    assert client.get_device_by_id(device.id).name == 'pump'
    assert client.get_tenant_devices(page_size=10, page=0, text_search='pump').total_elements == 1
    credentials = client.get_device_credentials_by_device_id(device.id)
    assert len(credentials.credentials_id) == 20
    assert any(kind.type == 'pumps' for kind in client.get_device_types())
    client.save_entity_telemetry(device.id, 'ANY', {'temperature': 21.5})
    assert client.get_latest_timeseries(device.id, keys='temperature')['temperature'][0].value == '21.5'
    client.save_device_attributes(device.id, 'SERVER_SCOPE', {'floor': 3})
    assert client.get_attributes_by_scope(device.id, 'SERVER_SCOPE', keys='floor')[0].value == 3
    return device, credentials.credentials_id


def assets(client):
    asset = client.save_asset(Asset(name='hall', type='building'))
    assert client.get_asset_by_id(asset.id).type == 'building'
    asset.label = 'north'
    changed = client.save_asset(asset)
    assert changed.label == 'north' and changed.version == asset.version + 1
    return asset


def relations(client, asset, device):
    client.save_relation(EntityRelation(_from=asset.id, to=device.id, type='Contains', type_group='COMMON'))
    found = client.find_by_from(asset.id, 'Contains')
    assert [relation.to.id for relation in found] == [device.id.id], found


def customers(client, device):
    customer = client.save_customer(Customer(title='Smith & Sons'))
    assert client.get_customer_by_id(customer.id).title == 'Smith & Sons'
    owned = client.get_device_by_id(device.id)
    owned.customer_id = customer.id
    assert client.save_device(owned).customer_id.id == customer.id.id
    return customer


def users(client, customer):
    user = client.save_user(
        User(email='smith@example.com', authority='CUSTOMER_USER', customer_id=customer.id, first_name='Jo'),
        send_activation_mail=False,
    )
    assert 'activateToken=' in client.get_activation_link(user.id)
    assert client.get_user_by_id(user.id).first_name == 'Jo'
    return user


def alarms(client, device):
    alarm = client.save_alarm(Alarm(originator=device.id, name='too hot', type='too hot', status='ACTIVE_UNACK', severity='MAJOR', acknowledged=False, cleared=False))
    assert client.get_alarm_info_by_id(alarm.id).originator_name == 'pump'
    assert client.ack_alarm(alarm.id).acknowledged
    assert client.clear_alarm(alarm.id).status == 'CLEARED_ACK'
    assert client.get_alarms(device.id, page_size=10, page=0).total_elements == 1


def rpc(client, device, token):
    answered = threading.Event()
    line = answering_device(token, answered)
    try:
        assert answered.wait(10), 'the device does not connect'
        answer = client.handle_two_way_device_rpc_request(
            device.id, {'method': 'add', 'params': {'a': 1, 'b': 2}, 'timeout': 5000}
        )
        answer = json.loads(answer) if isinstance(answer, (str, bytes)) else answer
        assert answer == {'sum': 3}, answer
    finally:
        line.loop_stop()
        line.disconnect()


def answering_device(token, subscribed):
    import paho.mqtt.client as mqtt
    try:
        line = mqtt.Client(mqtt.CallbackAPIVersion.VERSION1)
    except AttributeError:
        line = mqtt.Client()
    line.username_pw_set(token)
    line.on_connect = lambda connected, *_: connected.subscribe('v1/devices/me/rpc/request/+', 1)
    line.on_subscribe = lambda *_: subscribed.set()

    def on_message(connected, _, message):
        params = json.loads(message.payload)['params']
        request = message.topic.rsplit('/', 1)[1]
        connected.publish(f'v1/devices/me/rpc/response/{request}', json.dumps({'sum': params['a'] + params['b']}), 1)

    line.on_message = on_message
    line.connect('127.0.0.1', mqtt_port)
    line.loop_start()
    return line


def queries(client):
    entity_filter = EntityTypeFilter(type='entityType', entity_type='DEVICE')
    assert client.count_entities_by_query(EntityCountQuery(entity_filter=entity_filter)) >= 1
    page = client.find_entity_data_by_query(EntityDataQuery(
        entity_filter=entity_filter,
        page_link=EntityDataPageLink(page_size=10, page=0, text_search='pump'),
        entity_fields=[EntityKey(type='ENTITY_FIELD', key='name')],
        latest_values=[EntityKey(type='TIME_SERIES', key='temperature')],
    ))
    assert page.total_elements == 1
    latest = page.data[0].latest
    assert latest['ENTITY_FIELD']['name'].value == 'pump' and latest['TIME_SERIES']['temperature'].value == '21.5'


def dashboards(client):
    dashboard = client.save_dashboard(Dashboard(title='hall', configuration={'widgets': {}}))
    assert client.get_dashboard_by_id(dashboard.id).title == 'hall'
    return dashboard


def audit(client):
    rows = client.get_audit_logs(page_size=100, page=0).data
    kinds = {(row.action_type, row.entity_name) for row in rows}
    assert ('ADDED', 'hall') in kinds and ('ADDED', 'pump') in kinds, kinds


def totp(auth_url):
    key = base64.b32decode(parse_qs(urlparse(auth_url).query)['secret'][0])
    mac = hmac.new(key, struct.pack('>Q', int(time.time()) // 30), hashlib.sha1).digest()
    place = mac[-1] & 15
    return '%06d' % ((struct.unpack('>I', mac[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000)


def second_factor(client):
    administrator = RestClient(url)
    administrator.login('sysadmin@millrace.local', 'sysadmin')
    administrator.save_platform_two_fa_settings(PlatformTwoFaSettings(
        providers=[TotpTwoFaProviderConfig(provider_type='TOTP', issuer_name='Millrace'),
                   BackupCodeTwoFaProviderConfig(provider_type='BACKUP_CODE', codes_quantity=2)],
        min_verification_code_send_period=5, total_allowed_time_for_verification=60,
    ))
    administrator.stop()
    config = client.generate_two_fa_account_config('TOTP')
    client.verify_and_save_two_fa_account_config(config, verification_code=totp(config.auth_url))
    client.verify_and_save_two_fa_account_config(client.generate_two_fa_account_config('BACKUP_CODE'))
    shown = client.get_account_two_fa_settings().configs
    assert shown['TOTP'].auth_url.endswith('secret=hidden') and shown['BACKUP_CODE'].codes_left == 2, shown
    assert client.delete_two_fa_account_config('TOTP').configs == {}


def deletion(client, device, asset, customer, user, dashboard):
    client.delete_user(user.id)
    client.delete_customer(customer.id)
    client.delete_device(device.id)
    client.delete_asset(asset.id)
    client.delete_dashboard(dashboard.id)
    assert client.get_tenant_devices(page_size=10, page=0, text_search='pump').total_elements == 0


client = RestClient(url)
client.login('tenant@millrace.local', 'tenant')
device, token = part('devices', devices, client) or (None, None)
asset = part('assets', assets, client)
part('relations', relations, client, asset, device)
customer = part('customers', customers, client, device)
user = part('users', users, client, customer)
part('alarms', alarms, client, device)
part('rpc', rpc, client, device, token)
part('entity queries', queries, client)
dashboard = part('dashboards', dashboards, client)
part('audit log', audit, client)
part('second factor', second_factor, client)
part('deletion', deletion, client, device, asset, customer, user, dashboard)
end()
