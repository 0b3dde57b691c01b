import Logging
import TocsinCore
import TocsinPush

/// Words the reports of the outbox and of webhooks for the log: no tokens, no texts.
enum PushLog {
    static func write(_ report: PushReport, to logger: Logger) {
        switch report {
        case .providerNotConfigured(let service):
            logger.warning(
                "push provider not configured; its pushes are skipped",
                metadata: ["event": "push_provider_not_configured", "provider": "\(service)"]
            )
        case .providerPaused(let lane, let reason):
            logger.error(
                "push provider paused",
                metadata: [
                    "event": "push_provider_paused", "provider": "\(lane.service)", "app": "\(lane.appID)",
                    "reason": "\(reason)",
                ]
            )
        case .providerResumed(let lane):
            logger.notice(
                "push provider resumed",
                metadata: [
                    "event": "push_provider_resumed", "provider": "\(lane.service)", "app": "\(lane.appID)",
                ]
            )
        case .providerSlowed(let lane, let perSecond):
            logger.warning(
                "push quota used up; pushes slow down",
                metadata: [
                    "event": "push_quota_used", "provider": "\(lane.service)", "app": "\(lane.appID)",
                    "per_second": .stringConvertible(perSecond),
                ]
            )
        case .payloadRefused(let service, let delivery):
            logger.error(
                "push refused",
                metadata: [
                    "event": "push_refused", "provider": "\(service)",
                    "reason": "\(delivery.reason?.rawValue ?? "")",
                    "delivery_id": "\(delivery.id)", "message_id": "\(delivery.messageID)",
                ]
            )
        case .credentialTrouble(let service, let reason, let delivery):
            logger.warning(
                "push credentials need attention",
                metadata: [
                    "event": "push_credentials_trouble", "provider": "\(service)", "reason": "\(reason)",
                    "delivery_id": "\(delivery.id)", "message_id": "\(delivery.messageID)",
                ]
            )
        case .deviceRetired(let delivery, let reason):
            logger.info(
                "device retired",
                metadata: [
                    "event": "device_retired", "device_id": "\(delivery.deviceID)", "reason": "\(reason)",
                    "delivery_id": "\(delivery.id)", "message_id": "\(delivery.messageID)",
                ]
            )
        case .settled(let service, let status, let count):
            logger.debug(
                "pushes settled",
                metadata: [
                    "event": "pushes_settled", "provider": "\(service)", "outcome": "\(status)",
                    "count": .stringConvertible(count),
                ]
            )
        case .delivery(let delivery, let service, let tokenHash):
            logger.debug(
                "delivery",
                metadata: [
                    "event": "delivery", "delivery_id": "\(delivery.id)", "message_id": "\(delivery.messageID)",
                    "device_id": "\(delivery.deviceID)", "provider": "\(service)",
                    "platform": "\(delivery.platform?.rawValue ?? "none")",
                    "outcome": "\(delivery.status.rawValue)", "reason": "\(delivery.reason?.rawValue ?? "")",
                    "attempts": .stringConvertible(delivery.attempts), "token_hash": "\(tokenHash)",
                ]
            )
        case .storeFailed(let error):
            logger.error(
                "the outbox waits for the database",
                metadata: ["event": "outbox_waits", "reason": "\(error)"]
            )
        case .stoppedUnanswered(let count):
            logger.notice(
                "pushes without an answer wait for the next start",
                metadata: ["event": "pushes_unanswered", "pushes": .stringConvertible(count)]
            )
        }
    }

    static func write(_ report: WebhookReport, to logger: Logger) {
        switch report {
        case .retrying(let webhook, let type, let id, let reason, let attempts):
            logger.warning(
                "webhook event not delivered; it is tried again",
                metadata: [
                    "event": "webhook_retrying", "webhook": "\(webhook)", "type": "\(type.rawValue)",
                    "event_id": "\(id)", "reason": "\(reason)", "attempts": .stringConvertible(attempts),
                ]
            )
        case .dead(let webhook, let type, let id, let reason):
            logger.error(
                "webhook event given up; tocsin webhooks retry sends it again",
                metadata: [
                    "event": "webhook_given_up", "webhook": "\(webhook)", "type": "\(type.rawValue)",
                    "event_id": "\(id)", "reason": "\(reason)",
                ]
            )
        case .storeFailed(let error):
            logger.error(
                "webhooks wait for the database",
                metadata: ["event": "webhooks_wait", "reason": "\(error)"]
            )
        }
    }
}
