import Logging
import TocsinCore
import TocsinPush

/// Words the reports of the outbox and of webhooks for the log: no tokens, no texts.
enum PushLog {
    static func write(_ report: PushReport, to logger: Logger) {
        switch report {
        case .providerNotConfigured(let service):
            logger.warning("push provider not configured; its pushes are skipped", metadata: ["provider": "\(service)"])
        case .providerPaused(let lane, let reason):
            logger.error(
                "push provider paused",
                metadata: ["provider": "\(lane.service)", "app": "\(lane.appID)", "reason": "\(reason)"]
            )
        case .providerResumed(let lane):
            logger.notice("push provider resumed", metadata: ["provider": "\(lane.service)", "app": "\(lane.appID)"])
        case .providerSlowed(let lane, let perSecond):
            logger.warning(
                "push quota used up; pushes slow down",
                metadata: ["provider": "\(lane.service)", "app": "\(lane.appID)", "per_second": "\(perSecond)"]
            )
        case .payloadRefused(let service, let reason, let delivery):
            logger.error(
                "push refused",
                metadata: ["provider": "\(service)", "reason": "\(reason)", "delivery": "\(delivery)"]
            )
        case .credentialTrouble(let service, let reason, let delivery):
            logger.warning(
                "push credentials need attention",
                metadata: ["provider": "\(service)", "reason": "\(reason)", "delivery": "\(delivery)"]
            )
        case .deviceRetired(let device, let reason):
            logger.info("device retired", metadata: ["device": "\(device)", "reason": "\(reason)"])
        case .settled(let service, let status, let count):
            logger.debug(
                "pushes settled",
                metadata: ["provider": "\(service)", "status": "\(status)", "count": "\(count)"]
            )
        case .delivery(let delivery, let service, let tokenHash):
            logger.debug(
                "delivery",
                metadata: [
                    "delivery": "\(delivery.id)", "message_id": "\(delivery.messageID)",
                    "device": "\(delivery.deviceID)", "provider": "\(service)",
                    "platform": "\(delivery.platform?.rawValue ?? "none")",
                    "status": "\(delivery.status.rawValue)", "reason": "\(delivery.reason?.rawValue ?? "")",
                    "attempts": "\(delivery.attempts)", "token_hash": "\(tokenHash)",
                ]
            )
        case .storeFailed(let error):
            logger.error("the outbox waits for the database", metadata: ["reason": "\(error)"])
        case .stoppedUnanswered(let count):
            logger.notice("pushes without an answer wait for the next start", metadata: ["count": "\(count)"])
        }
    }

    static func write(_ report: WebhookReport, to logger: Logger) {
        switch report {
        case .retrying(let webhook, let type, let id, let reason, let attempts):
            logger.warning(
                "webhook event not delivered; it is tried again",
                metadata: [
                    "webhook": "\(webhook)", "type": "\(type.rawValue)", "event": "\(id)", "reason": "\(reason)",
                    "attempts": "\(attempts)",
                ]
            )
        case .dead(let webhook, let type, let id, let reason):
            logger.error(
                "webhook event given up; tocsin webhooks retry sends it again",
                metadata: [
                    "webhook": "\(webhook)", "type": "\(type.rawValue)", "event": "\(id)", "reason": "\(reason)",
                ]
            )
        case .storeFailed(let error):
            logger.error("webhooks wait for the database", metadata: ["reason": "\(error)"])
        }
    }
}
