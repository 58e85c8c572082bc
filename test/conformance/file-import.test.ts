/** `npm start -- import FILE` as people see it: what it guesses of a file, what it says at its end, its exit code. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { importFile } from '../../commands/import.ts'
import { devices } from '../../services/entities/device.ts'
import { openRestWorld, type RestWorld } from '../security/rest-world.ts'

describe('a file of devices', () => {
  let world: RestWorld
  let folder = ''
  before(async () => {
    world = await openRestWorld()
    folder = await mkdtemp(join(tmpdir(), 'millrace-file-import-'))
  })
  after(async () => {
    await world.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function imported(name: string, text: string) {
    const file = join(folder, name)
    await writeFile(file, text)
    const said = { out: [] as string[], error: [] as string[] }
    const output = { out: (line: string) => said.out.push(line), error: (line: string) => said.error.push(line) }
    const code = await importFile([file, '--url', world.url, '--user', world.platform.tenant.email], output)
    return { code, file, ...said }
  }

  test('is cut where its first line is, whatever stands in quotes', async () => {
    const { code, out } = await imported(
      'odd.csv',
      '\r\n"Label";"server:site, hall";Name;Device profile\n"a;\nb";1;semicolons;default\n',
    )
    assert.deepEqual([code, out], [0, ['1 created, 0 updated, 0 refused']])
    const found = await world.platform.services.declared.of(devices).findByName(world.platform.tenantId, 'semicolons')
    assert.equal(found?.label, 'a;\nb')
  })

  test('whose first line goes over two has the lines behind it only', async () => {
    const { code, out } = await imported('two.csv', 'name,"server:a\nb"\nbehind,1\n')
    assert.deepEqual([code, out], [0, ['1 created, 0 updated, 0 refused']])
  })

  test('with a quote that nothing ends is refused in a sentence with its line, before any line is sent', async () => {
    for (const [name, text, line] of [
      ['head.csv', 'name,"label\nswallowed,a\n', 1],
      ['late.csv', `name,label\n${'fine,b\n'.repeat(3)}swallower,"c\nlost,d\n`, 5],
    ] as const) {
      const { code, out, error, file } = await imported(name, text)
      const sentence = `line ${line} of ${file} has a quote that nothing ends: all behind it would be one cell. Nothing was imported`
      assert.deepEqual([code, out, error], [1, [], [sentence]])
    }
    const { declared } = world.platform.services
    for (const name of ['swallowed', 'fine', 'lost'])
      assert.equal(await declared.of(devices).findByName(world.platform.tenantId, name), undefined)
  })

  test('with refused lines ends with a code of its own, and one sentence says how many and where the reasons are', async () => {
    const bad = await imported('bad.csv', 'name,type\nfine too,default\n,default\n,default\n')
    assert.deepEqual([bad.code, bad.out], [3, ['1 created, 0 updated, 2 refused']])
    assert.deepEqual(bad.error, [`2 lines were refused: ${bad.file}.errors has the reasons`])
    assert.match(await readFile(`${bad.file}.errors`, 'utf8'), /^Line 3: .+\nLine 4: .+\n$/)
    assert.equal((await imported('bad.csv', await readFile(bad.file, 'utf8'))).code, 3, 'imported before')
  })
})
