/** The shells for which there is a script. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

const bash = `# bash completion for kubectl-steward
_kubectl_steward() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(kubectl-steward __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | sed '/^:[0-9]*$/d')
}
complete -o default -F _kubectl_steward kubectl-steward
`;

const zsh = `#compdef kubectl-steward
_kubectl_steward() {
  local line
  local -a found
  for line in "\${(@f)$(kubectl-steward __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z "$line" || "$line" == :[0-9]* ]] && continue
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe 'kubectl-steward' found
}
compdef _kubectl_steward kubectl-steward
`;

const fish = `# fish completion for kubectl-steward
function __kubectl_steward_complete
  set -l words (commandline -opc)
  kubectl-steward __complete $words[2..-1] (commandline -ct) 2>/dev/null | string match -rv '^:[0-9]*$'
end
complete -c kubectl-steward -f -a '(__kubectl_steward_complete)'
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };

/** The script that makes a shell complete `kubectl-steward`. */
export const shellScript = (shell: Shell): string => scripts[shell];

/**
 * The program with which kubectl completes `kubectl steward`: it has to be named `kubectl_complete-steward` and to be in the PATH
 * (https://kubernetes.io/docs/reference/kubectl/kubectl-cmds, kubectl 1.26 and later).
 */
export const kubectlCompletion = `#!/bin/sh
exec kubectl-steward __complete "$@"
`;
