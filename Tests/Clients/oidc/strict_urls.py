"""What the provider of strict.py serves, and what its ID tokens say."""

from django.contrib.auth.views import LoginView
from django.urls import include, path
from oauth2_provider.oauth2_validators import OAuth2Validator


class Validator(OAuth2Validator):
    oidc_claim_scope = None

    def get_additional_claims(self, request):
        return {
            "preferred_username": request.user.username,
            "email": request.user.email,
            "realm_access": {"roles": sorted(group.name for group in request.user.groups.all())},
        }


urlpatterns = [
    path("login/", LoginView.as_view()),
    path("", include("oauth2_provider.urls")),
]
