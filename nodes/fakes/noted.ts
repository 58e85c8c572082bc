/** Capabilities of which a test wants to know only what was asked of them. */
import type { AiQuestion, NodeAi } from '../../engine/rulechain/capabilities/ai.ts'
import type { DeviceStateEvent, NodeDeviceState } from '../../engine/rulechain/capabilities/device-state.ts'
import type { NodeMail, NodeMailMessage } from '../../engine/rulechain/capabilities/mail.ts'
import type { NodeNotificationRequest, NodeNotifications } from '../../engine/rulechain/capabilities/notifications.ts'
import type {
  CustomTable,
  CustomTableRow,
  CustomTableTarget,
  NodeTables,
} from '../../engine/rulechain/capabilities/tables.ts'
import type { NodeSms } from '../../engine/rulechain/capabilities/sms.ts'
import type { NodeView, NodeViews } from '../../engine/rulechain/capabilities/views.ts'
import type { EntityId } from '../../model/entity-id.ts'

export class FakeDeviceState implements NodeDeviceState {
  readonly reports: (readonly [deviceId: string, event: DeviceStateEvent, ts: number])[] = []

  async report(...report: readonly [string, DeviceStateEvent, number]): Promise<void> {
    this.reports.push(report)
  }
}

export class FakeMail implements NodeMail {
  readonly sent: NodeMailMessage[] = []

  async send(mail: NodeMailMessage): Promise<void> {
    this.sent.push(mail)
  }
}

export class FakeNotifications implements NodeNotifications {
  readonly sent: NodeNotificationRequest[] = []
  token: string | undefined

  async send(request: NodeNotificationRequest): Promise<void> {
    this.sent.push(request)
  }

  async slackToken(): Promise<string | undefined> {
    return this.token
  }
}

export class FakeAi implements NodeAi {
  readonly opened: (readonly [modelId: string, limits: Parameters<NodeAi['open']>[1]])[] = []
  readonly asked: AiQuestion[] = []
  answer = '{}'
  failure: Error | undefined
  isClosed = false

  async open(...opened: Parameters<NodeAi['open']>) {
    this.opened.push(opened)
    return {
      ask: async (question: AiQuestion) => {
        this.asked.push(question)
        if (this.failure !== undefined) throw this.failure
        return this.answer
      },
      close: async () => void (this.isClosed = true),
    }
  }
}

export class FakeSms implements NodeSms {
  readonly sent: (readonly [number: string, text: string])[] = []

  readonly send = async (...text: readonly [string, string]): Promise<void> => {
    this.sent.push(text)
  }
}

export class FakeTables implements NodeTables {
  readonly opened: CustomTableTarget[] = []
  readonly rows: CustomTableRow[] = []
  /** Of rows that hold the text. */
  refuses: string | undefined
  failure: Error | undefined

  async open(target: CustomTableTarget): Promise<CustomTable> {
    this.opened.push(target)
    return {
      write: async (rows) => {
        if (this.failure !== undefined) throw this.failure
        this.rows.push(...rows)
        return rows.map((row) =>
          this.refuses !== undefined && row.includes(this.refuses) ? new Error('refused') : undefined,
        )
      },
    }
  }
}

export class FakeViews implements NodeViews {
  readonly held: NodeView[] = []

  async of(source: EntityId): Promise<readonly NodeView[]> {
    return this.held.filter((view) => view.source.id === source.id)
  }
}
