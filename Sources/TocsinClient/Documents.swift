import TocsinContent

/// The GraphQL documents the client sends.
package enum Documents {
    /// All of them: a server that runs known documents only knows these too.
    package static var all: [String] {
        [
            topicByName, topicByID, createTopic, createMessage, registerPushToken, registerProvenPushToken,
            registrationChallenge, unregisterPushToken, follow, followAll, standOfAll, standOfTopic, signIn,
            refreshSession, signOut, sendPush, NotificationCategories.document,
        ]
    }

    static let topicByName = """
        query TopicByName($name: String!) {
          me { username }
          getTopicByName(name: $name) { items { id owner _deleted } }
        }
        """

    static let topicByID = "query TopicByID($id: ID!) { getTopic(id: $id) { id _deleted } }"

    static let createTopic = "mutation CreateTopic($input: CreateTopicInput!) { createTopic(input: $input) { id } }"

    static let createMessage = """
        mutation Publish($input: CreateMessageInput!) {
          createMessage(input: $input) { id number cursor topicId createdAt }
        }
        """

    static let registerPushToken = """
        mutation RegisterPushToken(
          $token: String!, $platform: String!, $environment: String, $appId: String, $deviceId: ID, $name: String
        ) {
          registerPushToken(
            token: $token, platform: $platform, environment: $environment, appId: $appId, deviceId: $deviceId, name: $name
          ) { userId pushTokens device { id platform } }
        }
        """

    static let registerProvenPushToken = """
        mutation RegisterProvenPushToken(
          $token: String!, $platform: String!, $environment: String, $appId: String, $deviceId: ID, $name: String,
          $proof: RegistrationProofInput!
        ) {
          registerPushToken(
            token: $token, platform: $platform, environment: $environment, appId: $appId, deviceId: $deviceId, name: $name,
            proof: $proof
          ) { userId pushTokens device { id platform address } }
        }
        """

    static let registrationChallenge = """
        query RegistrationChallenge { registrationChallenge { nonce server userId issuedAt expiresAt } }
        """

    static let unregisterPushToken = """
        mutation UnregisterPushToken($token: String!) { unregisterPushToken(token: $token) { userId pushTokens } }
        """

    static let sendPush = """
        mutation SendPush(
          $userId: ID, $tokens: [String!], $platforms: [String!], $title: String!, $body: String, $data: AWSJSON,
          $type: Int, $priority: Int, $url: AWSURL, $category: String, $key: String, $push: PushInput
        ) {
          sendPush(
            userId: $userId, tokens: $tokens, platforms: $platforms, title: $title, body: $body, data: $data,
            type: $type, priority: $priority, url: $url, category: $category, key: $key, push: $push
          ) { messageId devices unknownTokens }
        }
        """

    /// Alone in its request, as the server wants it.
    static let signIn = """
        mutation SignIn($username: String!, $password: String!, $device: String) {
          signIn(username: $username, password: $password, device: $device) { \(sessionFields) }
        }
        """

    static let refreshSession = "mutation RefreshSession { refreshSession { \(sessionFields) } }"

    static let signOut = "mutation SignOut { signOut }"

    private static let sessionFields = "token sessionId expiresAt userId username"

    private static let messageFields =
        "id number cursor type title body createdAt priority url data category topicId"

    static let follow = """
        subscription Follow($topicId: ID!, $after: String) {
          onCreateMessage(topicId: $topicId, after: $after) { \(messageFields) }
        }
        """

    static let followAll = """
        subscription FollowAll($after: String) { onCreateMessage(after: $after) { \(messageFields) } }
        """

    /// Where the feed of all the caller's topics stands now.
    static let standOfAll = "query StandOfAll { me { cursor } }"

    /// Where the topic's feed stands now.
    static let standOfTopic = """
        query Stand($topicId: ID!) { getTopic(id: $topicId) { cursor lastNumber } }
        """
}
