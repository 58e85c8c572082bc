"""What a user of the client generated from the platform's OpenAPI description does in a day: ce_client.py URL. It reads answers strictly."""
import json
import sys
import time

from tb_ce_client import models
from tb_ce_client.client import ThingsboardClient

from parts import end, part

url = sys.argv[1]
NOBODY = '13814000-1dd2-11b2-8080-808080808080'
GIF = bytes.fromhex(
    '47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b')


def model(name, members):
    return getattr(models, name).from_dict(members)


def ref(entity_type, entity_id):
    return {'entityType': entity_type, 'id': str(entity_id)}


def status_of(run):
    try:
        run()
    except Exception as error:
        return error.status
    raise AssertionError('it was not refused')


def devices(client):
    device = client.save_device(model('Device', {'name': 'pump', 'type': 'pumps', 'label': 'first'}))
    device = client.save_device(client.get_device_by_id(str(device.id.id)))
    assert device.version == 2, device.version
    assert status_of(lambda: client.save_device(model('Device', {'name': 'pump'}))) == 400
    second = client.save_device(
        model('Device', {'name': 'pump', 'type': 'pumps'}), name_conflict_policy=models.NameConflictPolicy.UNIQUIFY)
    assert second.name.startswith('pump') and second.name != 'pump'
    credentials = client.get_device_credentials_by_device_id(str(device.id.id))
    credentials.credentials_id = 'TOKEN_OF_THE_PUMP'
    assert client.update_device_credentials(credentials).credentials_id == 'TOKEN_OF_THE_PUMP'
    found = client.get_tenant_device_infos(10, 0, text_search='pump', sort_property='name', sort_order='ASC')
    assert [info.name for info in found.data] == ['pump', second.name], found
    imported = client.process_devices_bulk_import(model('BulkImportRequest', {
        'file': 'name,type,floor\nb1,pumps,1\nb2,pumps,2',
        'mapping': {
            'columns': [{'type': 'NAME'}, {'type': 'TYPE'}, {'type': 'SERVER_ATTRIBUTE', 'key': 'floor'}],
            'delimiter': ',', 'header': True, 'update': True},
    }))
    assert imported.created == 2 and imported.errors == 0, imported
    assert client.get_device_publish_telemetry_commands(str(device.id.id)) is not None
    return str(device.id.id), device.device_profile_id


def series(client, device):
    client.save_entity_telemetry('DEVICE', device, 'ANY', json.dumps({'temperature': 21.5, 'on': True}))
    first = 1_700_000_000_000
    client.save_entity_telemetry('DEVICE', device, 'ANY', json.dumps(
        [{'ts': first + second * 1000, 'values': {'temperature': second}} for second in range(100)]))
    assert client.get_latest_timeseries('DEVICE', device, keys='temperature')['temperature'][0].value == '21.5'
    assert client.get_latest_timeseries('DEVICE', device, key=['on'], use_strict_data_types=True)['on'][0].value is True
    means = client.get_timeseries_history(
        'DEVICE', device, first, first + 100_000, keys='temperature', interval=20_000, agg='AVG', order_by='ASC')
    assert [point.value for point in means['temperature']] == ['9.5', '29.5', '49.5', '69.5', '89.5'], means
    assert client.get_timeseries_history(
        'DEVICE', device, first, first + 100_000, keys='temperature', interval_type='WEEK',
        time_zone='Europe/Kyiv', agg='MAX')['temperature'][0].value in ('99.0', '99')
    client.delete_entity_timeseries('DEVICE', device, keys='on', delete_all_data_for_keys=True)
    assert client.get_timeseries_keys('DEVICE', device) == ['temperature']


def attributes(client, device):
    client.save_device_attributes(device, 'SERVER_SCOPE', json.dumps({'floor': 3, 'text': 'hello', 'o': {'x': [1]}}))
    client.save_entity_attributes_v2('DEVICE', device, 'SHARED_SCOPE', json.dumps({'setpoint': 4.5}))
    read = client.get_attributes('DEVICE', device, key=['floor'])
    assert [(one.key, one.value) for one in read] == [('floor', 3)], read
    client.delete_entity_attributes('DEVICE', device, 'SERVER_SCOPE', key=['o'])
    assert sorted(client.get_attribute_keys_by_scope('DEVICE', device, 'SERVER_SCOPE'))[-2:] == ['floor', 'text']


def relations(client, device):
    asset = str(client.save_asset(model('Asset', {'name': 'hall', 'type': 'building'})).id.id)
    client.save_relation(model('EntityRelation', {
        'from': ref('ASSET', asset), 'to': ref('DEVICE', device), 'type': 'Contains', 'typeGroup': 'COMMON'}))
    assert client.find_entity_relation_infos_by_from('ASSET', asset)[0].to_name == 'pump'
    search = {'rootId': asset, 'rootType': 'ASSET', 'direction': 'FROM', 'relationTypeGroup': 'COMMON', 'maxLevel': 2}
    found = client.find_entity_relations_by_query(model('EntityRelationsQuery', {
        'parameters': search, 'filters': [{'relationType': 'Contains', 'entityTypes': ['DEVICE']}]}))
    assert len(found) == 1
    pumps = client.find_devices_by_query(model('DeviceSearchQuery', {
        'parameters': search, 'relationType': 'Contains', 'deviceTypes': ['pumps']}))
    assert [pump.name for pump in pumps] == ['pump']
    return asset


def customers(client, device):
    customer = str(client.save_customer(model('Customer', {'title': 'Smith'})).id.id)
    client.assign_device_to_customer(customer, device)
    user = client.save_user(model('User', {
        'email': 'jo@example.com', 'authority': 'CUSTOMER_USER', 'customerId': ref('CUSTOMER', customer),
        'additionalInfo': {}}), send_activation_mail='false')
    token = client.get_activation_link(str(user.id.id)).split('activateToken=')[1]
    client.activate_user(model('ActivateUserRequest', {'activateToken': token, 'password': 'secret of Jo'}))
    jo = ThingsboardClient(url, 'jo@example.com', 'secret of Jo')
    assert [info.name for info in jo.get_customer_device_infos(customer, 10, 0).data] == ['pump']
    assert status_of(lambda: jo.save_customer(model('Customer', {'title': 'mine'}))) == 403
    jo.change_password(model('ChangePasswordRequest', {'currentPassword': 'secret of Jo', 'newPassword': 'another one'}))
    return customer


def alarms(client, device, asset):
    alarm = client.save_alarm(model('Alarm', {
        'type': 'hot', 'name': 'hot', 'originator': ref('DEVICE', device), 'severity': 'MAJOR', 'acknowledged': False,
        'cleared': False, 'status': 'ACTIVE_UNACK', 'propagate': True}))
    alarm = str(alarm.id.id)
    client.save_alarm_comment(alarm, model('AlarmComment', {'comment': {'text': 'look'}}))
    assert client.get_alarm_comments(alarm, 10, 0).total_elements >= 1
    client.assign_alarm(alarm, str(client.get_user().id.id))
    assert client.get_highest_alarm_severity('DEVICE', device) == models.AlarmSeverity.MAJOR
    assert client.get_alarms_v2('ASSET', asset, 10, 0, status_list=['ACTIVE'], type_list=['hot']).total_elements == 1
    client.ack_alarm(alarm)
    assert client.clear_alarm(alarm).status == models.AlarmStatus.CLEARED_ACK


def queries(client, device):
    of_devices = {'type': 'entityType', 'entityType': 'DEVICE'}
    warm = [{'key': {'type': 'TIME_SERIES', 'key': 'temperature'}, 'valueType': 'NUMERIC', 'predicate': {
        'type': 'NUMERIC', 'operation': 'GREATER', 'value': {'defaultValue': 10}}}]
    assert client.count_entities_by_query(
        model('EntityCountQuery', {'entityFilter': of_devices, 'keyFilters': warm})) == 1
    page = {'pageSize': 10, 'page': 0, 'sortOrder': {
        'key': {'type': 'ENTITY_FIELD', 'key': 'name'}, 'direction': 'ASC'}}
    found = client.find_entity_data_by_query(model('EntityDataQuery', {
        'entityFilter': of_devices, 'keyFilters': warm, 'pageLink': page,
        'entityFields': [{'type': 'ENTITY_FIELD', 'key': 'name'}],
        'latestValues': [{'type': 'SERVER_ATTRIBUTE', 'key': 'floor'}]}))
    assert found.data[0].latest['SERVER_ATTRIBUTE']['floor'].value == '3'
    single = {'type': 'singleEntity', 'singleEntity': ref('DEVICE', device)}
    keys = client.find_available_entity_keys_by_query(
        True, True, model('EntityDataQuery', {'entityFilter': single, 'pageLink': page}))
    assert 'temperature' in keys.timeseries and 'setpoint' in keys.attribute, keys
    hot = client.find_alarm_data_by_query(model('AlarmDataQuery', {
        'entityFilter': of_devices, 'alarmFields': [{'type': 'ALARM_FIELD', 'key': 'type'}],
        'pageLink': {'pageSize': 10, 'page': 0, 'startTs': 0, 'endTs': 9_999_999_999_999,
                     'searchPropagatedAlarms': True, 'typeList': ['hot']}}))
    assert hot.total_elements == 1 and hot.data[0].entity_id.id is not None


def rule_chains(client):
    chain = client.save_rule_chain(model('RuleChain', {'name': 'mine', 'type': 'CORE'}))
    script = {'scriptLang': 'TBEL', 'tbelScript': 'return msg.temperature > 20;', 'jsScript': 'return true;'}
    node = {'debugSettings': {'failuresEnabled': True}, 'additionalInfo': {'layoutX': 10, 'layoutY': 20}}
    client.save_rule_chain_meta_data(model('RuleChainMetaData', {
        'ruleChainId': ref('RULE_CHAIN', chain.id.id), 'firstNodeIndex': 0, 'nodes': [
            {**node, 'type': 'org.thingsboard.rule.engine.filter.TbJsFilterNode', 'name': 'warm', 'configuration': script},
            {**node, 'type': 'org.thingsboard.rule.engine.telemetry.TbMsgTimeseriesNode', 'name': 'save',
             'configuration': {'defaultTTL': 0}}],
        'connections': [{'fromIndex': 0, 'toIndex': 1, 'type': 'True'}], 'ruleChainConnections': []}))
    drawn = client.get_rule_chain_meta_data(str(chain.id.id))
    assert [one.name for one in drawn.nodes] == ['warm', 'save'] and len(drawn.connections) == 1
    client.save_rule_chain_meta_data(drawn, update_related=True)
    tried = client.test_rule_chain_script({
        'script': script['tbelScript'], 'scriptType': 'filter', 'argNames': ['msg', 'metadata', 'msgType'],
        'msg': '{"temperature":22}', 'metadata': {}, 'msgType': 'POST_TELEMETRY_REQUEST'}, models.ScriptLanguage.TBEL)
    assert tried == {'output': 'true', 'error': ''}, tried
    assert len(client.get_component_descriptors_by_types(['FILTER', 'ACTION', 'EXTERNAL'])) > 30
    client.delete_rule_chain(str(chain.id.id))


def calculated_fields(client, device):
    arguments = {'t': {'refEntityKey': {'key': 'temperature', 'type': 'TS_LATEST'}}}
    field = client.save_calculated_field(model('CalculatedField', {
        'entityId': ref('DEVICE', device), 'type': 'SIMPLE', 'name': 'doubled', 'configuration': {
            'type': 'SIMPLE', 'arguments': arguments, 'expression': 't * 2',
            'output': {'type': 'TIME_SERIES', 'name': 'doubled'}}}))
    assert client.get_calculated_field_by_id(str(field.id.id)).configuration.expression == 't * 2'
    rule = client.save_alarm_rule(model('AlarmRuleDefinition', {
        'entityId': ref('DEVICE', device), 'name': 'hot', 'configuration': {
            'type': 'ALARM', 'arguments': arguments, 'createRules': {'CRITICAL': {'condition': {
                'type': 'SIMPLE', 'expression': {'type': 'TBEL', 'expression': 'return t > 50;'}}}}}}))
    assert client.get_alarm_rules(10, 0).data[0].id.id == rule.id.id
    client.save_entity_telemetry('DEVICE', device, 'ANY', json.dumps({'temperature': 60}))
    deadline = time.monotonic() + 60
    while client.get_latest_timeseries('DEVICE', device).get('doubled', [None])[0] is None:
        assert time.monotonic() < deadline, 'no result comes'
        time.sleep(0.05)
    while client.get_all_alarms(10, 0, status='ACTIVE_UNACK').total_elements == 0:
        assert time.monotonic() < deadline, 'no alarm comes'
        time.sleep(0.05)


def dashboards(client, customer):
    dashboard = str(client.save_dashboard(model('Dashboard', {'title': 'hall', 'configuration': {'widgets': {}}})).id.id)
    client.assign_dashboard_to_customer(customer, dashboard)
    assert client.get_customer_dashboards(customer, 10, 0).total_elements == 1
    assert len(client.assign_dashboard_to_public_customer(dashboard).assigned_customers) == 2
    client.set_tenant_home_dashboard_info(model('HomeDashboardInfo', {
        'dashboardId': ref('DASHBOARD', dashboard), 'hideDashboardToolbar': True}))
    assert str(client.get_home_dashboard_info().dashboard_id.id) == dashboard
    client.report_user_dashboard_action(dashboard, 'star')
    assert str(client.get_last_visited_dashboards().starred[0].id) == dashboard


def entity_views(client, device):
    view = client.save_entity_view(model('EntityView', {
        'name': 'view', 'type': 'default', 'entityId': ref('DEVICE', device), 'startTimeMs': 0, 'endTimeMs': 0,
        'keys': {'timeseries': ['temperature'], 'attributes': {'cs': [], 'ss': ['floor'], 'sh': []}}}))
    assert list(client.get_latest_timeseries('ENTITY_VIEW', str(view.id.id))) == ['temperature']
    client.delete_entity_view(str(view.id.id))


def files(client, profile):
    client.upload_image(('dot.gif', GIF), title='dot')
    assert client.export_image('tenant', 'dot.gif').title == 'dot'
    client.update_image('tenant', 'dot.gif', ('dot.gif', GIF))
    lib = client.upload_resource('GENERAL', ('notes.txt', b'hello'), title='notes', descriptor='{"mediaType":"text/plain"}')
    assert client.get_resource_info_by_id(str(lib.id.id)).file_name == 'notes.txt'
    client.update_resource_data(lib.id.id, ('notes.txt', b'hello again'))
    firmware = client.save_ota_package_info(model('SaveOtaPackageInfoRequest', {
        'deviceProfileId': ref('DEVICE_PROFILE', profile.id), 'type': 'FIRMWARE', 'title': 'fw', 'version': '1.0'}))
    stored = client.save_ota_package_data(str(firmware.id.id), 'SHA256', ('fw.bin', b'1234'))
    assert stored.has_data and stored.data_size == 4 and len(stored.checksum) == 64


def notifications(client):
    target = client.save_notification_target(model('NotificationTarget', {
        'name': 'all', 'configuration': {'type': 'PLATFORM_USERS', 'usersFilter': {'type': 'ALL_USERS'}}}))
    assert client.get_recipients_for_notification_target_config(10, 0, target).total_elements >= 1
    # The description tells the templates apart by `method`, and the key says it too.
    template = client.save_notification_template(model('NotificationTemplate', {
        'name': 'hello', 'notificationType': 'GENERAL', 'configuration': {'deliveryMethodsTemplates': {
            'WEB': {'method': 'WEB', 'enabled': True, 'subject': 'Hi', 'body': 'There'}}}}))
    request = model('NotificationRequest', {
        'targets': [str(target.id.id)], 'templateId': ref('NOTIFICATION_TEMPLATE', template.id.id)})
    assert client.get_notification_request_preview(request).total_recipients_count >= 1
    client.create_notification_request(request)
    deadline = time.monotonic() + 60
    while not any(one.subject == 'Hi' for one in client.get_notifications(10, 0, unread_only=True).data):
        assert time.monotonic() < deadline, 'nothing is in the inbox'
        time.sleep(0.05)
    client.mark_all_notifications_as_read()
    assert client.get_unread_notifications_count() == 0


def access(client):
    key = client.save_api_key(model('ApiKeyInfo', {
        'description': 'mine', 'enabled': True, 'userId': ref('USER', client.get_user().id.id)}))
    by_key = ThingsboardClient(url, api_key=key.value)
    assert by_key.get_tenant_devices(10, 0).total_elements >= 4
    client.enable_api_key(key.id.id, False)
    assert status_of(lambda: by_key.get_tenant_devices(10, 0)) == 401
    by_token = ThingsboardClient(url, token=client.get_token(), refresh_token=client.get_refresh_token())
    assert by_token.get_user().email == 'tenant@millrace.local'
    pair = client.refresh_token(model('RefreshTokenRequest', {'refreshToken': client.get_refresh_token()}))
    assert pair.token and pair.refresh_token


def system(client):
    info = client.save_tenant_profile(model('TenantProfile', {'name': 'small', 'profileData': {'configuration': {
        'type': 'DEFAULT', 'maxDevices': 1, 'maxDataPointsPerRollingArg': 1000, 'maxRelationLevelPerCfArgument': 2,
        'maxRelatedEntitiesToReturnPerCfArgument': 100}}}))
    tenant = str(client.save_tenant(model('Tenant', {
        'title': 'Second', 'tenantProfileId': ref('TENANT_PROFILE', info.id.id)})).id.id)
    assert client.get_tenant_info_by_id(tenant).tenant_profile_name == 'small'
    client.save_user(model('User', {
        'email': 'second@example.com', 'authority': 'TENANT_ADMIN', 'tenantId': ref('TENANT', tenant),
        'additionalInfo': {}}), send_activation_mail='false')
    assert client.get_tenant_admins(tenant, 10, 0).total_elements == 1
    client.save_security_settings(client.get_security_settings())
    client.save_admin_settings(client.get_admin_settings('general'))
    client.delete_tenant(tenant)
    client.delete_tenant_profile(str(info.id.id))


def journal(client, device):
    # What is written in the background of a change is there soon, not at once.
    deadline = time.monotonic() + 60
    while True:
        kinds = {row.action_type.value for row in client.get_audit_logs_by_entity_id('DEVICE', device, 100, 0).data}
        if {'ADDED', 'CREDENTIALS_UPDATED', 'ATTRIBUTES_UPDATED'} <= kinds:
            break
        assert time.monotonic() < deadline, kinds
        time.sleep(0.05)
    chain = next(one for one in client.get_rule_chains(10, 0).data if one.root)
    events = client.get_events_by_type('RULE_CHAIN', str(chain.id.id), 'LC_EVENT', NOBODY, 10, 0)
    assert events.total_elements >= 1, events
    usage = client.get_tenant_usage_info()
    assert usage.devices >= 4, usage


tenant = ThingsboardClient(url, 'tenant@millrace.local', 'tenant')
device, profile = part('devices', devices, tenant) or (None, None)
part('series', series, tenant, device)
part('attributes', attributes, tenant, device)
asset = part('relations', relations, tenant, device)
customer = part('customers', customers, tenant, device)
part('alarms', alarms, tenant, device, asset)
part('entity queries', queries, tenant, device)
part('rule chains', rule_chains, tenant)
part('calculated fields', calculated_fields, tenant, device)
part('dashboards', dashboards, tenant, customer)
part('entity views', entity_views, tenant, device)
part('files', files, tenant, profile)
part('notifications', notifications, tenant)
part('access', access, tenant)
part('system', system, ThingsboardClient(url, 'sysadmin@millrace.local', 'sysadmin'))
part('journal', journal, tenant, device)
end()
