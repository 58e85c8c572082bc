/** A tenant with one thing of every kind is taken along, brought in elsewhere and beside itself; killed on the way it goes on. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { tenant } from '../../commands/tenant.ts'
import { dashboards } from '../../services/entities/dashboard.ts'
import { devices } from '../../services/entities/device.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { openRestWorld, type RestWorld } from '../security/rest-world.ts'

describe('a tenant', () => {
  let [source, target]: RestWorld[] = []
  let folder = ''
  let file = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-tenant-'))
    file = join(folder, 'tenant.gz')
    ;[source, target] = [await openRestWorld(), await openRestWorld()]
  })
  after(async () => {
    await source?.close()
    await target?.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function run(world: RestWorld | undefined, ...argv: string[]): Promise<{ code: number; text: string }> {
    const lines: string[] = []
    const output = { out: (line: string) => lines.push(line), error: (line: string) => lines.push(line) }
    const code = await tenant([...argv, '--url', world?.url ?? '', '--user', 'sysadmin@millrace.local'], output)
    return { code, text: lines.join('\n') }
  }

  async function newTenant(world: RestWorld | undefined, title: string): Promise<string> {
    assert.ok(world)
    const { services, systemAdministrator } = world.platform
    return (await services.tenants.saveByUser(systemAdministrator, { title })).id
  }

  /** Which lines of the answer name something that was done. */
  const done = (text: string) => text.split('\n').filter((line) => / [1-9]\d* (new|changed)/.test(line))

  test('is taken along whole, and shown as a plan that changes nothing', async () => {
    assert.ok(source && target)
    const exported = await run(source, 'export', file, '--tenant', source.platform.tenantId)
    assert.equal(exported.code, 0, exported.text)
    const planned = await run(target, 'import', file, '--into', await newTenant(target, 'Planned'))
    assert.equal(planned.code, 0, planned.text)
    assert.match(planned.text, /device: [1-9]\d* new/)
    assert.match(planned.text, /nothing was changed: add --apply/)
    const again = await run(target, 'import', file, '--into', 'Planned')
    assert.deepEqual(done(again.text), done(planned.text))
  })

  test('beside itself it gets other ids everywhere, in JSON too; a second time changes nothing', async () => {
    assert.ok(source)
    const { services, tenant: principal, tenantId } = source.platform
    const [device] = await services.declared.of(devices).findAllBy(tenantId, {})
    assert.ok(device)
    const configuration = { widgets: { w: { deviceId: device.id } } }
    await services.declared.of(dashboards).saveByUser(principal, { title: 'names a device', configuration })
    await run(source, 'export', file, '--tenant', tenantId)

    const copyId = await newTenant(source, 'Copy')
    const first = await run(source, 'import', file, '--into', copyId, '--apply')
    assert.equal(first.code, 0, first.text)
    assert.match(first.text, /left out: app_user .* is another tenant's/)
    const copied = await services.declared.of(devices).findBy(copyId, { name: device.name })
    assert.ok(copied)
    assert.notEqual(copied.id, device.id)
    const dashboard = await services.declared.of(dashboards).findBy(copyId, { title: 'names a device' })
    assert.deepEqual(dashboard?.configuration, { widgets: { w: { deviceId: copied.id } } })
    const [own, others] = [
      await services.devices.credentials(tenantId, device.id),
      await services.devices.credentials(copyId, copied.id),
    ]
    assert.ok(own && others)
    assert.notEqual(own.credentialsId, others.credentialsId)
    assert.deepEqual(await services.declared.of(devices).find(tenantId, device.id), device)

    const second = await run(source, 'import', file, '--into', copyId, '--apply')
    assert.equal(second.code, 0, second.text)
    assert.deepEqual(done(second.text), [])
  })

  test('goes into the tenant that another import made meanwhile', async (context) => {
    assert.ok(source && target)
    const alone = join(folder, 'alone.gz')
    assert.equal((await run(source, 'export', alone, '--tenant', await newTenant(source, 'Alone'))).code, 0)
    const call = globalThis.fetch
    let made = ''
    context.mock.method(globalThis, 'fetch', async (...[url, init]: Parameters<typeof call>) => {
      if (url === `${target?.url ?? ''}/api/tenant`) made = await newTenant(target, 'Alone')
      return call(url, init)
    })
    const { code, text } = await run(target, 'import', alone, '--apply')
    assert.equal(code, 0, text)
    assert.ok(made !== '' && text.includes(`into Alone (${made})`), text)
  })

  test('killed at any write of the import, it goes on by beginning again', async (context) => {
    assert.ok(target)
    const { entities } = target.platform
    const write = entities.write.bind(entities)
    const into = await newTenant(target, 'Killed')
    let left = Infinity
    context.mock.method(entities, 'write', (steps: Parameters<typeof write>[0]) => {
      const isImport = steps.some(({ parameters }) => parameters.some((value) => String(value).includes('"imported"')))
      return isImport && left-- <= 0
        ? Promise.reject(EntityStoreErrors.VERSION_CONFLICT({ entity: 'killed' }))
        : write(steps)
    })
    let kills = 0
    for (;;) {
      left = 1
      const { code, text } = await run(target, 'import', file, '--into', into, '--apply')
      if (code === 0) {
        assert.ok(kills > 5, `${kills} kills`)
        break
      }
      assert.ok(++kills < 100, text)
    }
    left = Infinity
    assert.deepEqual(done((await run(target, 'import', file, '--into', into, '--apply')).text), [])
  })

  test('a damaged file and one without an end are refused', async () => {
    const whole = await readFile(file)
    const cut = join(folder, 'cut.gz')
    await writeFile(cut, whole.subarray(0, whole.length - 100))
    const { code, text } = await run(target, 'import', cut, '--into', 'Planned', '--apply')
    assert.equal(code, 1)
    assert.match(text, /no whole file of a tenant/)
  })
})
