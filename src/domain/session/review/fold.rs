//! One spelling for what is written in many: case, full-width forms, traditional characters, emphasis and blanks.
//!
//! Keywords, hypotheses and tool names are folded by the same rules as answers, so that a table needs one spelling.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Traditional characters with their simplified forms, in pairs; those that answers about incidents are made of.
const SIMPLIFIED: &str = "\
沒没無无發发現现錯错誤误異异結结論论斷断確确認认導导為为爲为於于與与對对應应該该這这個个從从來来時时間间數数據据資资\
詢询調调試试過过還还證证驗验總总計计約约達达筆笔條条則则項项種种臺台檯台萬万億亿鐘钟鍾钟週周點点號号觀观測测標标跡迹\
蹤踪鏈链鍵键響响傳传輸输連连線线網网絡络絕绝關关閉闭開开啟启啓启動动務务業业處处報报礙碍壞坏當当機机掛挂滿满內内記记\
憶忆體体盤盘載载負负遲迟隊队鎖锁併并並并單单雙双兩两幾几許许請请說说話话語语讀读寫写讓让給给們们後后沖冲決决況况準准\
減减實实際际屬属歸归歷历曆历歲岁尋寻將将專专層层嚴严圖图團团圍围場场塊块壓压壩坝備备優优傷伤僅仅價价側侧偵侦儲储兒儿\
冊册凍冻別别刪删劃划創创勢势勝胜勞劳匯汇區区協协卻却參参員员問问喚唤嘗尝國国執执奪夺學学審审屢屡帶带幹干廠厂廣广張张\
強强彈弹徑径復复複复恆恒惡恶慮虑態态慣惯憑凭懷怀戰战戶户擇择擔担擊击擬拟擴扩換换損损搶抢攔拦攜携敗败敵敌舊旧暫暂會会\
東东極极構构樣样檔档檢检欄栏權权殘残殺杀氣气淨净滯滞滾滚潰溃潛潜濾滤災灾煩烦熱热燒烧爭争牽牵狀状獨独獲获環环產产畫画\
疊叠監监盡尽儘尽眾众礎础禍祸離离稱称積积穩稳窮穷競竞範范築筑簡简簽签籤签級级紀纪紅红純纯細细終终組组統统經经綜综維维\
綱纲緊紧緒绪編编緩缓縮缩織织繞绕繼继續续纔才罰罚羅罗義义習习聯联聲声職职聽听脫脱腳脚臨临舉举節节蓋盖薦荐虛虚蟲虫術术\
衛卫衝冲補补裝装裡里裏里製制視视覽览覺觉親亲觸触訂订訊讯討讨訓训設设訴诉診诊評评詞词詳详誌志誰谁課课談谈諸诸謂谓譯译\
議议護护變变負负責责財财貨货費费質质賬账帳帐賴赖趨趋躍跃軟软較较輔辅輕轻輪轮輯辑轉转辦办進进運运違违遞递遠远適适選选\
遺遗邊边邏逻郵邮釋释針针銷销錄录鏡镜長长門门閃闪閱阅陣阵陽阳階阶隨随險险隱隐雖虽難难電电靜静頁页頂顶順顺須须預预頻频\
題题額额顯显類类風风飛飞餘余馬马駐驻騙骗驅驱驟骤齊齐佔占係系繫系盪荡癱瘫嗎吗麼么麽么乾干\
庫库幣币託托歐欧燈灯礦矿羣群詐诈誘诱諾诺賣卖買买貢贡賞赏賽赛購购贈赠贏赢轄辖醫医鑰钥鐵铁閾阈閥阀闊阔飾饰駕驾騰腾髒脏臟脏\
黃黄齡龄龍龙塵尘夾夹孫孙廢废慶庆憂忧撥拨擋挡擾扰暢畅歡欢殼壳毀毁湧涌漢汉潔洁瀏浏瀉泻瑣琐療疗祕秘稅税篩筛糾纠紋纹紙纸綁绑\
繪绘罷罢膠胶艙舱蝕蚀襲袭訪访譜谱豐丰貯贮販贩貸贷蹟迹逕径遙遥鄰邻鉤钩鋪铺鏽锈闖闯陳陈雜杂霧雾顧顾駁驳鬆松鬥斗噸吨徵征尙尚";

static FORMS: LazyLock<BTreeMap<char, char>> = LazyLock::new(|| {
    let mut pairs = SIMPLIFIED.chars();
    std::iter::from_fn(|| Some((pairs.next()?, pairs.next()?))).collect()
});

/// A text in the one spelling. Line breaks stay where they part something; a wrapped line is joined to the next.
pub(super) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\u{2028}' | '\u{2029}' => {
                let is_wrapped = chars.peek().is_some_and(|next| next.is_lowercase()) && goes_on(&out);
                push_blank(&mut out, if is_wrapped { ' ' } else { '\n' });
            }
            '*' if at_line_start(&out) && chars.peek().is_some_and(|next| next.is_whitespace()) => out.push('-'),
            '*' | '`' | '~' => {} // emphasis and code
            _ if is_invisible(c) => {}
            _ if c.is_whitespace() => push_blank(&mut out, ' '),
            _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            _ => push_plain(&mut out, c),
        }
    }
    out
}

/// Whether the line so far ends in the middle of something.
fn goes_on(out: &str) -> bool {
    out.chars().next_back().is_some_and(|last| last.is_alphanumeric() || last == ',')
}

fn at_line_start(out: &str) -> bool {
    out.trim_end_matches(' ').chars().next_back().is_none_or(|last| last == '\n')
}

/// One blank for many; a line break swallows the blanks before it.
fn push_blank(out: &mut String, blank: char) {
    if blank == '\n' {
        let kept = out.trim_end_matches(' ').len();
        out.truncate(kept);
    }
    if blank == '\n' || !out.ends_with([' ', '\n']) {
        out.push(blank);
    }
}

fn push_plain(out: &mut String, c: char) {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{2032}' => out.push('\''),
        '\u{201c}' | '\u{201d}' => out.push('"'),
        '\u{2010}' | '\u{2011}' | '\u{2212}' => out.push('-'),
        '\u{ff01}'..='\u{ff5e}' => {
            let narrow = u32::from(c).checked_sub(0xfee0).and_then(char::from_u32).unwrap_or(c);
            if !matches!(narrow, '*' | '`' | '~') {
                out.push(narrow.to_ascii_lowercase());
            }
        }
        '\u{4e00}'..='\u{9fff}' => out.push(FORMS.get(&c).copied().unwrap_or(c)),
        _ => out.extend(c.to_lowercase()),
    }
}

/// Controls and marks that hide, join or reorder what is read.
fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\u{85}'))
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Whether a character is Chinese.
pub(super) const fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a character is of a script that writes no blanks between words, or joins particles to them: a phrase in it
/// is found anywhere. Thai to Myanmar, Hangul, Khmer, kana, Chinese.
pub(super) const fn is_unspaced(c: char) -> bool {
    is_han(c)
        || matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
            | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}')
}
