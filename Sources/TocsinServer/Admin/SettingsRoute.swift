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
        AdminAnswer.json(SettingsReport.json(origins, of: reloader))
    }
}
