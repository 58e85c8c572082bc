/** The backup guide's way for PostgreSQL, with its own tools: the commands and the SQL are those of `docs/guides/backup.md`. */
import { DECLARED_TABLES } from '../../services/entities/declared.ts'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Message } from '../../model/message.ts'
import { systemClock } from '../../model/system-clock.ts'
import { openPostgresEntityStore } from '../../storage/entities/entity-store.ts'
import { emptyDatabase, serverForFile } from '../../storage/postgres/testkit.ts'
import { hasTool, skipUnless } from '../support/require-tool.ts'
import { PROJECT_ROOT } from '../support/start-millrace.ts'

const server = await serverForFile()
const noTools = skipUnless(['psql', 'pg_dump', 'pg_restore'].every(hasTool), 'the client programs of PostgreSQL')

function messageOf(id: string): Message {
  const originator = { entityType: 'DEVICE', id: '784f394c-42b6-435a-983c-b7beff2784f9' } as const
  return new Message({
    id,
    ts: 1,
    type: 'ENTITY_UPDATED',
    tenantId: originator.id,
    originator,
    metadata: {},
    data: '{}',
  })
}

test(
  'a dump made behind the copy of the outbox has every message, and takes attributes at lower positions',
  { skip: server === undefined ? 'needs PostgreSQL' : noTools },
  async (context) => {
    assert.ok(server !== undefined)
    const folder = await mkdtemp(join(tmpdir(), 'millrace-dump-'))
    context.after(() => rm(folder, { recursive: true, force: true }))
    const run = (command: string, args: readonly string[], input = '') => {
      const { status, stderr } = spawnSync(command, args, { cwd: folder, input, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    }
    const open = (url: string) =>
      openPostgresEntityStore({ url, applicationName: 'test', clock: systemClock, tables: DECLARED_TABLES })
    const guide = await readFile(join(PROJECT_ROOT, 'docs', 'guides', 'backup.md'), 'utf8')
    const copy = /psql -c "(.*)"`/.exec(guide)?.[1] ?? ''
    const repair = /```sql\n([^`]*)```/.exec(guide)?.[1] ?? ''

    const source = await emptyDatabase(server)
    const before = await open(source)
    const written = await before.write([
      before.outbox.add(messageOf('published meanwhile')),
      before.outbox.add(messageOf('waits')),
    ])
    const attribute = { key: 'k', type: 'LONG', value: 1, lastUpdateTs: 1 } as const
    const at = (sequence: number, value: number) =>
      ({ entityId: 'e', scope: 'CLIENT_SCOPE', attribute: { ...attribute, value }, sequence }) as const
    run('psql', [source, '-c', copy])
    await before.write([
      before.outbox.remove([before.outbox.addedId(written, 0)]),
      before.attributes.save([at(1_000_000, 1)]),
    ])
    await before.close()
    run('pg_dump', ['--format=custom', '--file=millrace.dump', source])

    const target = await emptyDatabase(server)
    run('pg_restore', ['--no-owner', `--dbname=${target}`, 'millrace.dump'])
    run('psql', [target, '-v', 'ON_ERROR_STOP=1'], repair)
    const after = await open(target)
    context.after(() => after.close())
    const entries = await after.outbox.after(0, 10)
    assert.deepEqual(entries.map(({ message }) => message.id).toSorted(), ['published meanwhile', 'waits'])
    const later = await after.write([after.outbox.add(messageOf('later')), after.attributes.save([at(7, 2)])])
    assert.ok(after.outbox.addedId(later, 0) > Math.max(...entries.map(({ id }) => id)))
    assert.deepEqual(
      (await after.attributes.all('e')).rows.map(({ value }) => value),
      [2],
    )
  },
)
