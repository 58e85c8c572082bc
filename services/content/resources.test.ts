import assert from 'node:assert/strict'
import { DEMO_ACCESS_TOKEN } from '../seed.ts'
import { afterEach, beforeEach, test } from 'node:test'
import { dashboards } from '../entities/dashboard.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { tenants } from '../entities/tenant.ts'
import { widgetTypes } from '../entities/widget-type.ts'
import type { TbResource } from '../entities/tb-resource.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { etagOf } from './resources.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform()
})
afterEach(() => platform.close())

const PAGE = { page: 0, pageSize: 100 }
const files = () => platform.services.content.resources
const upload = (fileName: string, text = 'export {}', resourceType = 'JS_MODULE', by = platform.tenant) =>
  files().save(by, { title: fileName, resourceType, fileName }, Buffer.from(text))
const namesOf = ({ data }: { readonly data: readonly TbResource[] }) => data.map(({ title }) => title).toSorted()

const modelOf = (id: number, name: string, more = '') => `<?xml version="1.0" encoding="utf-8"?>
<LWM2M><Object ObjectType="MODefinition"><Name>${name}</Name><Description1><![CDATA[words]]></Description1>
<ObjectID>${id}</ObjectID><ObjectURN>urn:oma:lwm2m:oma:${id}</ObjectURN>${more}
<MultipleInstances>Multiple</MultipleInstances><Mandatory>Mandatory</Mandatory><Resources>
<Item ID="9"><Name>Battery Level</Name><Operations>R</Operations><Type>Integer</Type></Item>
<Item ID="4"><Name>Reboot</Name><Operations>E</Operations><Type>Opaque</Type></Item>
<Item ID="2"><Name>serial-number</Name><Operations>RW</Operations><Type>Unsigned Integer</Type></Item></Resources></Object></LWM2M>`

test('a file comes back as it was, under its key and with the sum of its bytes', async () => {
  const saved = await upload('clock.js')
  assert.deepEqual([saved.resourceKey, saved.etag], ['clock.js', await etagOf(Buffer.from('export {}'))])
  assert.equal((await files().read(saved)).toString(), 'export {}')
  assert.deepEqual(await files().findByKey(platform.tenant, 'JS_MODULE', false, 'clock.js'), saved)
  assert.equal(await files().findByKey(platform.tenant, 'JS_MODULE', true, 'clock.js'), undefined)
  const other = await files().save(platform.tenant, { id: saved.id, fileName: 'new.js' }, Buffer.from('1'))
  assert.deepEqual([other.resourceKey, other.fileName, other.title], ['clock.js', 'new.js', 'clock.js'])
  assert.equal((await files().read(saved)).toString(), '1')
  const renamed = await files().save(platform.tenant, { id: saved.id, title: 'Clock' })
  assert.deepEqual([renamed.title, renamed.etag], ['Clock', other.etag])
})

test('what is no good file is refused in the words of the reference', async () => {
  await upload('clock.js')
  await assert.rejects(upload('clock.js'), { message: 'Resource with such fileName already exists!' })
  await assert.rejects(upload('a', ''), { message: 'Resource data should be specified' })
  await assert.rejects(upload('a/b.js'), { message: 'File name contains forbidden symbols' })
  const { id } = await upload('a.jks', 'x', 'JKS')
  const other = files().save(platform.tenant, { id }, Buffer.from('y'))
  await assert.rejects(other, { message: "This type of resource can't be updated" })
  await files().save(platform.tenant, { id, title: 'other' })
  const system = await upload('a.jks', 'x', 'JKS', platform.systemAdministrator)
  await files().save(platform.systemAdministrator, { id: system.id }, Buffer.from('y'))
  await assert.rejects(upload('a', 'x', 'IMAGE'), { message: 'Image resource type is not supported' })
  await assert.rejects(upload('', 'x', 'JKS'), { message: 'Resource title should be specified!' })
  const typeless = files().save(platform.tenant, { title: 'a', fileName: 'a' }, Buffer.from('x'))
  await assert.rejects(typeless, { message: 'Resource type should be specified!' })
})

test('lists show the own ones before those of the system, and leave out what has lists of its own', async () => {
  const system = platform.systemAdministrator
  await upload('both.jks', 'system', 'JKS', system)
  await upload('system.jks', 'system', 'JKS', system)
  await upload('both.jks', 'own', 'JKS')
  await upload('script.js')
  const all = await files().page(platform.tenant, {}, PAGE)
  assert.deepEqual(namesOf(all), ['both.jks', 'system.jks'])
  assert.equal(all.totalElements, 2)
  assert.ok(all.data.some(({ title, tenantId }) => title === 'both.jks' && tenantId === platform.tenantId))
  assert.deepEqual(namesOf(await files().page(platform.tenant, { types: ['JS_MODULE'] }, PAGE)), ['script.js'])
  assert.deepEqual(namesOf(await files().page(platform.tenant, { isOwnOnly: true }, PAGE)), ['both.jks'])
  assert.deepEqual(namesOf(await files().page(system, {}, PAGE)), ['both.jks', 'system.jks'])
  const found = await files().page(platform.tenant, {}, { ...PAGE, textSearch: 'SYSTEM.' })
  assert.deepEqual(namesOf(found), ['system.jks'])
})

test('a model is known by what its document says', async () => {
  const version = '<LWM2MVersion>1.1</LWM2MVersion><ObjectVersion>1.2</ObjectVersion>'
  const saved = await upload('3.xml', modelOf(3, 'Device', version), 'LWM2M_MODEL')
  assert.deepEqual([saved.title, saved.resourceKey], ['Device id=3 v1.2', '3_1.2'])
  await upload('11.xml', modelOf(11, 'Thing'), 'LWM2M_MODEL', platform.systemAdministrator)
  const [device] = await files().lwm2mObjects(platform.tenant, ['3_1.2'])
  const unseen = { observe: false, attribute: false, telemetry: false }
  assert.deepEqual(device, {
    ...{ id: 3, keyId: '3_1.2', name: 'Device', multiple: true, mandatory: true },
    instances: [
      {
        id: 0,
        resources: [
          { id: 2, name: 'serial-number', ...unseen, keyName: 'serialNumber' },
          { id: 9, name: 'Battery Level', ...unseen, keyName: 'batteryLevel' },
        ],
      },
    ],
  })
  const page = await files().lwm2mPage(platform.tenant, { ...PAGE, textSearch: '11_1.0' })
  assert.deepEqual(
    page.map(({ keyId }) => keyId),
    ['11_1.0'],
  )
  await assert.rejects(upload('4.xml', modelOf(3, 'Device', version), 'LWM2M_MODEL'), {
    message: 'Resource with such resourceKey already exists!',
  })
})

test('the types of resources are those of the tenant’s own model, else of the system’s, and of what was uploaded last', async () => {
  const { services, tenant, tenantId, systemAdministrator } = platform
  const [identity] = (await services.devices.findByCredentials([DEMO_ACCESS_TOKEN])).values()
  assert.ok(identity !== undefined && identity.tenantId === tenantId)
  const { typesOfObjects } = services.content
  const typed = (type: string, id = 21) => modelOf(id, 'Typed').replace('Unsigned Integer', type)
  const shown = async (): Promise<unknown> =>
    [...(await typesOfObjects.find(identity, ['21_1.0', '22_1.0']))].map(([key, types]) => [key, types.get(2)])
  assert.deepEqual(await shown(), [])
  await upload('21.xml', typed('Float'), 'LWM2M_MODEL', systemAdministrator)
  assert.deepEqual(await shown(), [['21_1.0', 'Float']])
  const own = await upload('21.xml', typed('Integer'), 'LWM2M_MODEL')
  assert.deepEqual(await shown(), [['21_1.0', 'Integer']])
  await files().save(tenant, { id: own.id }, Buffer.from(typed('Time')))
  assert.deepEqual(await shown(), [['21_1.0', 'Time']])
  const others = [23, 24, 25, 26, 27, 28]
  for (const id of others) {
    const both = [tenant, systemAdministrator]
    for (const who of id % 2 === 0 ? both : both.toReversed())
      await upload(`${id}.xml`, typed(who === tenant ? 'Integer' : 'Float', id), 'LWM2M_MODEL', who)
  }
  const found = await typesOfObjects.find(
    identity,
    others.map((id) => `${id}_1.0`),
  )
  assert.deepEqual(
    [...found.values()].map((types) => types.get(2)),
    others.map(() => 'Integer'),
  )
  assert.equal(found.get('23_1.0')?.has(4), false, 'what is executed has no value')
})

test('a document that is no model is refused, also one that would grow', async () => {
  const growing = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${modelOf(5, '&b;')}`
  const bad = ['no mark-up', '<LWM2M><Object>', '<LWM2M></LWM2M>', modelOf(70_000, 'Far'), modelOf(5, ''), growing]
  for (const document of bad)
    await assert.rejects(upload('bad.xml', document.replace(/^<\?.*\n/, ''), 'LWM2M_MODEL'), {
      message: 'Failed to parse file bad.xml',
      status: 400,
    })
})

test('a model larger than any is refused before it is read', async () => {
  const filled = (bytes: number) => modelOf(3, 'Device').replace('words', 'w'.repeat(bytes))
  await assert.rejects(upload('large.xml', filled(1 << 20), 'LWM2M_MODEL'), {
    ...{ code: 'resources.TOO_LARGE', status: 400 },
    message: 'Resource exceeds the maximum size of 1 MB',
  })
  assert.equal((await upload('3.xml', filled(1 << 19), 'LWM2M_MODEL')).resourceKey, '3_1.0')
})

test('what is shown somewhere goes only by force', async () => {
  const script = await upload('clock.js')
  await upload('clock.js2')
  const { declared } = platform.services
  const link = '/api/resource/js_module/tenant/clock.js'
  const descriptor = { type: 'latest', resources: [{ url: `tb-resource;${link}` }] }
  const widget = await declared.of(widgetTypes).saveByUser(platform.tenant, { name: 'Clock', descriptor })
  const configuration = { widgets: { a: `tb-resource;${link}2` } }
  await declared.of(dashboards).saveByUser(platform.tenant, { title: 'Other', configuration })
  const refused = await files().delete(platform.tenant, script, false)
  assert.equal(refused.success, false)
  assert.deepEqual(Object.keys(refused.references ?? {}), ['WIDGET_TYPE'])
  assert.deepEqual(refused.references?.['WIDGET_TYPE']?.[0]?.['id'], { entityType: 'WIDGET_TYPE', id: widget.id })
  assert.deepEqual(await files().delete(platform.tenant, script, true), { success: true, references: null })
  assert.equal((await files().read(script)).length, 0)
})

test('a tenant keeps no file larger than its profile allows, and no more than that together', async () => {
  const profiles = platform.services.declared.of(tenantProfiles)
  const tenant = await platform.services.declared.of(tenants).findAnywhere(platform.tenantId)
  const profile = await profiles.findAnywhere(tenant?.tenantProfileId ?? '')
  assert.ok(profile)
  const limits = { ...profile.profileData.limits, maxResourcesInBytes: 10, maxResourceSize: 6 }
  await profiles.saveByUser(platform.systemAdministrator, {
    ...{ id: profile.id, name: profile.name },
    profileData: { limits },
  })
  await assert.rejects(upload('large', '1234567'), { code: 'resources.TOO_LARGE' })
  const first = await upload('first', '123456')
  await assert.rejects(upload('second', '12345'), { code: 'resources.SHARE_USED_UP' })
  assert.equal((await files().page(platform.tenant, { types: ['JS_MODULE'] }, PAGE)).totalElements, 1)
  await files().save(platform.tenant, { id: first.id }, Buffer.from('12345'))
  await upload('second', '12345')
  await upload('unlimited', '1234567', 'JKS', platform.systemAdministrator)
})
