/** What the MQTT transport itself can fail with; what a client is told of it is in `reason-codes.ts`. */
import { defineErrors } from '../../model/errors.ts'

export const MqttErrors = defineErrors('mqtt', {
  LISTEN_FAILED: {
    kind: 'terminal',
    status: 500,
    text: 'MQTT cannot listen on {address}:{port} ({reason}); set another with MQTT_BIND_PORT or MQTT_BIND_ADDRESS',
  },
  ATTRIBUTES_UNAVAILABLE: { kind: 'retryable', status: 503, text: 'the attributes cannot be read now' },
  PROVISION_UNAVAILABLE: { kind: 'retryable', status: 503, text: 'no credentials can be given now' },
})
