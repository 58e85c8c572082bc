/** Makes a mail of a message, for the node that sends it (`rule-nodes.md` 32). */
import { z } from 'zod'
import { isJsonObject, parseJson } from '../../model/json.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { withBody } from '../body.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import type { Pattern } from '../pattern.ts'

const text = z.string().nullish()

export const toEmail = defineNode({
  type: 'org.thingsboard.rule.engine.mail.TbMsgToEmailNode',
  name: 'to email',
  category: 'TRANSFORMATION',
  relations: ['Success'],
  description:
    'Makes a mail of templates: the type becomes SEND_EMAIL, the body the mail. The metadata key images may hold pictures, as JSON by content id.',
  configuration: z.looseObject({
    fromTemplate: text.meta({ title: 'From', description: 'Address; may hold patterns, as all of these.' }),
    toTemplate: text.meta({ title: 'To', description: 'Addresses, separated by commas.' }),
    ccTemplate: text.meta({ title: 'Cc', description: 'Addresses, separated by commas.' }),
    bccTemplate: text.meta({ title: 'Bcc', description: 'Addresses, separated by commas.' }),
    subjectTemplate: text.meta({ title: 'Subject', description: 'Of the mail.' }),
    bodyTemplate: text.meta({ title: 'Body', description: 'Text or HTML.' }),
    isHtmlTemplate: text.meta({
      title: 'Is HTML',
      description: 'Where the kind is dynamic: true where the body is HTML.',
    }),
    mailBodyType: text.meta({
      title: 'Kind of the body',
      description: 'false for text, true for HTML, dynamic for what the field above says.',
    }),
  }),
  defaults: {
    fromTemplate: 'info@testmail.org',
    toTemplate: '${userEmail}',
    ccTemplate: null,
    bccTemplate: null,
    subjectTemplate: 'Device ${deviceType} temperature high',
    bodyTemplate: 'Device ${deviceName} has high temperature $[temperature]',
    isHtmlTemplate: null,
    mailBodyType: 'false',
  },
  examples: [
    {
      title: 'templates are filled',
      configuration: {
        fromTemplate: 'info@example.org',
        toTemplate: '${userEmail}',
        subjectTemplate: 'hot',
        bodyTemplate: '$[temperature] on ${deviceName}',
        mailBodyType: 'false',
      },
      given: { data: '{"temperature":25.0}', metadata: { userEmail: 'a@example.org', deviceName: 'A' } },
      expect: {
        relations: ['Success'],
        type: 'SEND_EMAIL',
        data: '{"from":"info@example.org","to":"a@example.org","cc":null,"bcc":null,"subject":"hot","body":"25.0 on A","images":null,"html":false}',
      },
    },
  ],
  create: (configuration) => {
    const fill = {
      from: filled(configuration.fromTemplate),
      to: filled(configuration.toTemplate),
      cc: filled(configuration.ccTemplate),
      bcc: filled(configuration.bccTemplate),
      subject: filled(configuration.subjectTemplate),
      body: filled(configuration.bodyTemplate),
    }
    const html = htmlOf(configuration.mailBodyType ?? 'false', configuration.isHtmlTemplate)
    return {
      handle: (message) => {
        const mail: JsonObject = {
          from: fill.from(message),
          to: fill.to(message),
          cc: fill.cc(message),
          bcc: fill.bcc(message),
          subject: fill.subject(message),
          body: fill.body(message),
          images: imagesOf(message),
          html: html(message),
        }
        return { message: withBody(message, mail).with({ type: 'SEND_EMAIL' }), relations: ['Success'] }
      },
    }
  },
})

/** An absent or empty template is null in the mail. */
function filled(template: string | null | undefined): (message: Message) => string | null {
  return template === null || template === undefined || template === '' ? () => null : pattern(template)
}

function htmlOf(kind: string, template: string | null | undefined): (message: Message) => boolean {
  if (kind !== 'dynamic') return () => kind.toLowerCase() === 'true'
  const says: Pattern = pattern(template ?? '')
  return (message) => says(message).toLowerCase() === 'true'
}

/** Data URLs by content id. */
function imagesOf({ metadata }: Message): JsonObject | null {
  const given = metadata['images']
  if (given === undefined || given === '') return null
  const images = parseJson(given)
  if (isJsonObject(images) && Object.values(images).every((image) => typeof image === 'string')) return images
  throw NodeErrors.METADATA_INVALID({ key: 'images', value: given.slice(0, 40), expected: 'texts by content id' })
}
