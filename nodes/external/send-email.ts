/** Sends the mail that a "to email" node made (`rule-nodes.md` 66). */
import { z } from 'zod'
import type { NodeMailMessage } from '../../engine/rulechain/capabilities/mail.ts'
import type { SmtpTarget } from '../../engine/rulechain/capabilities/outbound.ts'
import type { Message } from '../../model/message.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { bytesOf, callingNode, proxyOf, success } from './outcome.ts'
import { SECRET } from '../secrets.ts'

const NAME = 'send email'
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')

const mailSchema = z.looseObject({
  ...{ from: text, cc: text, bcc: text, subject: text, body: text },
  to: z.string().min(1),
  html: z.boolean().nullish().transform(Boolean),
  images: z.record(z.string(), z.string()).nullish(),
})

const configuration = z.looseObject({
  useSystemSmtpSettings: orZero(z.boolean(), false).meta({
    title: 'System mail server',
    description: 'The one that the system administrator set; otherwise that of the fields below.',
  }),
  smtpHost: z.string().nullish(),
  smtpPort: orZero(z.int().min(1).max(65_535), 25),
  username: z.string().nullish(),
  password: z.string().nullish().meta(SECRET),
  smtpProtocol: orZero(z.enum(['smtp', 'smtps']), 'smtp'),
  timeout: orZero(z.int().min(0), 10_000).meta({ title: 'Timeout', description: 'In ms.' }),
  enableTls: orZero(z.boolean(), false),
  tlsVersion: z.string().nullish(),
  enableProxy: orZero(z.boolean(), false).meta({
    title: 'Proxy',
    description: 'The own mail server is reached through an HTTP proxy (CONNECT).',
  }),
  proxyHost: z.string().nullish(),
  proxyPort: z.union([z.int(), z.string()], 'expected a port').nullish(),
  proxyUser: z.string().nullish(),
  proxyPassword: z.string().nullish().meta(SECRET),
})

export const sendEmail = defineNode({
  type: 'org.thingsboard.rule.engine.mail.TbSendEmailNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  takes: ['SEND_EMAIL'],
  description: 'Sends a message of type SEND_EMAIL, as "to email" makes it.',
  triedWith: 'a mail server, and a proxy',
  configuration,
  defaults: {
    useSystemSmtpSettings: true,
    smtpHost: 'localhost',
    smtpPort: 25,
    username: null,
    password: null,
    smtpProtocol: 'smtp',
    timeout: 10_000,
    enableTls: false,
    tlsVersion: 'TLSv1.2',
    enableProxy: false,
    proxyHost: null,
    proxyPort: null,
    proxyUser: null,
    proxyPassword: null,
  },
  examples: [],
  uses: ['mail', 'outbound'],
  effects: true,
  create: (config, { services: { mail, outbound } }) => {
    if (config.useSystemSmtpSettings) {
      return callingNode(outbound, { close: async () => undefined }, async (message) => {
        await mail.send(mailOf(message))
        return success(message)
      })
    }
    const client = outbound.open('smtp', targetOf(config), { timeoutMs: config.timeout })
    return callingNode(outbound, client, async (message) => {
      await client.call(mailOf(message), bytesOf(message.data))
      return success(message)
    })
  },
})

function targetOf(config: z.output<typeof configuration>): SmtpTarget {
  const refused = (field: string, reason: string) => NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason })
  const { smtpHost: host, smtpPort: port, username, password, smtpProtocol, enableTls } = config
  if (!host) throw refused('smtpHost', 'is missing')
  return {
    ...{ host, port, secure: smtpProtocol === 'smtps', startTls: enableTls },
    ...(username ? { username, password: password ?? '' } : {}),
    ...(config.enableProxy ? { proxy: proxyOf(NAME, config) } : {}),
  }
}

function mailOf(message: Message): NodeMailMessage {
  if (message.type !== 'SEND_EMAIL') throw NodeErrors.UNSUPPORTED_TYPE({ type: message.type })
  const parsed = mailSchema.safeParse(message.json())
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw NodeErrors.BODY_SHAPE({ reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'no mail'}` })
  }
  const { from, to, cc, bcc, subject, body, html: isHtml, images } = parsed.data
  checkAddresses({ to, cc, bcc })
  return { from, to, cc, bcc, subject, body, isHtml, ...(images ? { images } : {}) }
}

/** Between commas that stand in no quotes. */
const ENTRIES = /(?:"[^"]*"|[^",])+/g
const ADDRESS = /^(?:[^\s<>@]+@[^\s<>@]+|.*<[^\s<>@]+@[^\s<>@]+>)$/

/** Throws `VALUE_INVALID`: the client leaves out what is no address, and the mail would go to the others alone. */
function checkAddresses(lists: Readonly<Record<string, string>>): void {
  for (const [key, list] of Object.entries(lists))
    for (const entry of list.match(ENTRIES) ?? [])
      if (entry.trim() !== '' && !ADDRESS.test(entry.trim()))
        throw NodeErrors.VALUE_INVALID({
          key,
          expected: `a list of mail addresses: '${entry.trim().slice(0, 100)}' is none`,
        })
}
