import HTTPTypes
import JSON
import TocsinHTTP

/// `GET /admin/settings`: each setting as it holds, secrets masked, and where it came from.
struct SettingsRoute: AdminRoute {
    let method = HTTPRequest.Method.get
    let path = "/admin/settings"
    let access = AdminAccess.operators
    /// Where the values of the start came from.
    let origins: [SettingOrigin]
    let reloader: Reloader

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        // Values as they are in force; where they came from, as it was at the start.
        guard case .object(var settings) = SettingsReport.json(origins), case .object(let present) = reloader.report
        else { return AdminAnswer.json([:]) }
        for setting in present {
            guard case .object(var members)? = settings[setting.key] else { continue }
            for name in ["value", "pendingRestart"] { members[name] = setting.value[name] }
            settings[setting.key] = .object(members)
        }
        return AdminAnswer.json(.object(settings))
    }
}
